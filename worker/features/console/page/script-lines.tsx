/** The lines of a script that waits for a yes. Those that do harm are marked, and each is ticked by the person who has read it. */
import type { ApprovalCard } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { Small } from "./controls.tsx";
import { say } from "./texts/say.ts";

type Marks = NonNullable<ApprovalCard["marks"]>;
type Props = {
  lines: readonly string[];
  marks: Marks;
  ticked: ReadonlySet<number>;
  onTick: (line: number, on: boolean) => void;
  /** All lines are shown, or that was asked for. */
  isWhole: boolean;
  onWhole: () => void;
};

/** A longer script shows its beginning, its end and what is marked, until "Show all". */
const LINES_SHOWN = 30;
const AT_AN_END = 12;

export function isLong(lines: readonly string[]): boolean {
  return lines.length > LINES_SHOWN;
}

export function ScriptLines({ lines, marks, ticked, onTick, isWhole, onWhole }: Props) {
  const box = useRef<HTMLElement>(null);
  const [pressed, setPressed] = useState(false);
  useEffect(() => {
    // The button has disappeared, so the focus moves to the text that it revealed.
    if (pressed) box.current?.focus();
  }, [pressed]);
  const whyOf = new Map(marks.map(({ line, why }) => [line, why]));
  const isShown = (at: number) =>
    isWhole || at < AT_AN_END || at >= lines.length - AT_AN_END || whyOf.has(at);
  const show = () => {
    onWhole();
    setPressed(true);
  };
  return (
    <figure class="script" aria-label={`what would be run, ${lines.length} lines`} ref={box} tabIndex={-1}>
      <ol>
        {lines.flatMap((line, at) => {
          const number = at + 1;
          if (!isShown(at))
            // The first one of a row stands for all of it.
            return isShown(at - 1) ? [<Folded key={number} count={hiddenFrom(at)} onShow={show} />] : [];
          const why = whyOf.get(at);
          return [
            <li key={number} value={number} class={why === undefined ? undefined : "hot"}>
              <code>{line === "" ? " " : line}</code>
              {why !== undefined && (
                <label class="read">
                  <span>{visible(why)}</span>
                  <input
                    type="checkbox"
                    aria-label={`I have read line ${number}: ${visible(why)}`}
                    checked={ticked.has(at)}
                    onChange={({ currentTarget }) => onTick(at, currentTarget.checked)}
                  />
                </label>
              )}
            </li>,
          ];
        })}
      </ol>
    </figure>
  );

  function hiddenFrom(at: number): number {
    const end = lines.findIndex((_, later) => later > at && isShown(later));
    return (end < 0 ? lines.length : end) - at;
  }
}

function Folded({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <li class="fold">
      <Small onClick={onShow}>{say("moreHere", { count })}</Small>
    </li>
  );
}
