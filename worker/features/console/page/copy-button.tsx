import { useEffect, useState } from "preact/hooks";
import { Small } from "./controls.tsx";

/** Copies a text and says whether that succeeded. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => setSaid(""), [text]);
  return (
    <span class="row">
      <Small
        aria-label={label}
        onClick={() =>
          navigator.clipboard.writeText(text).then(
            () => setSaid("Copied."),
            () => setSaid("The browser does not allow copying here; select the text instead."),
          )
        }
      >
        Copy
      </Small>
      <output class="quiet">{said}</output>
    </span>
  );
}
