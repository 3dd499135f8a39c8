/** A long list is shown a page at a time: the place in it, buttons that turn the page, and a search box above. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Small } from "./controls.tsx";

export type Paging = {
  /** The number of the first one shown, from 0. */
  from: number;
  shown: number;
  /** Of all pages. */
  total: number;
  /** Absent on the first page. */
  back?: () => void;
  /** Absent on the last page. */
  forward?: () => void;
};

/**
 * Nothing is shown where one page has them all.
 * @param what is listed, in the plural
 * @param isLast the second one, below the list
 */
export function Pager({ paging, what, isLast = false }: { paging: Paging; what: string; isLast?: boolean }) {
  const { from, shown, total, back, forward } = paging;
  if (shown >= total) return null;
  const id = `pages-of-${what}`;
  const turn = (go: (() => void) | undefined) => () => {
    go?.();
    // Reading goes on at the top of the new page; a button that is disabled now would lose the focus.
    const place = document.getElementById(id);
    place?.focus();
    place?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div class="row pager">
      <Small disabled={!back} onClick={turn(back)}>
        Previous
      </Small>
      <Small disabled={!forward} onClick={turn(forward)}>
        Next
      </Small>
      <span id={isLast ? undefined : id} class="quiet" tabIndex={-1}>
        {(from + 1).toLocaleString()}–{(from + shown).toLocaleString()} of {total.toLocaleString()} {what}
      </span>
    </div>
  );
}

/** Typing takes about so long between two letters. */
const PAUSE_MS = 250;

/** @param onText is called with the trimmed text when typing pauses */
export function SearchBox({
  label,
  initial,
  maxLength,
  onText,
}: {
  label: string;
  initial?: string;
  maxLength: number;
  onText: (words: string) => void;
}) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      type="search"
      class="search"
      aria-label={label}
      placeholder={label}
      defaultValue={initial}
      maxLength={maxLength}
      onInput={({ currentTarget: { value } }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onText(value.trim()), PAUSE_MS);
      }}
    />
  );
}

/** The page of a list that the gateway sent whole. @param size of a page */
export function useSlice<T>(all: readonly T[], size: number): { slice: readonly T[]; paging: Paging } {
  const [wanted, setFrom] = useState(0);
  // The list may have become shorter.
  const from = Math.min(wanted, Math.max(0, Math.ceil(all.length / size) - 1) * size);
  const slice = all.slice(from, from + size);
  return {
    slice,
    paging: {
      from,
      shown: slice.length,
      total: all.length,
      ...(from > 0 && { back: () => setFrom(from - size) }),
      ...(from + size < all.length && { forward: () => setFrom(from + size) }),
    },
  };
}
