/** Which conversations this browser had: names only, kept here; what was said is at the gateway. */

export type Remembered = { id: string; title: string; at: number };

const KEY = "edgecall.conversations";
const KEPT = 30;

export function remembered(): Remembered[] {
  try {
    const list = JSON.parse(localStorage.getItem(KEY) ?? "[]") as unknown;
    if (!Array.isArray(list)) return [];
    return list.filter(
      (one: Partial<Remembered>) => typeof one?.id === "string" && typeof one.title === "string",
    );
  } catch {
    return [];
  }
}

export function remember(id: string, title: string, at: number): Remembered[] {
  const known = remembered();
  const first = known.find((one) => one.id === id)?.title ?? title.slice(0, 80);
  return store([{ id, title: first, at }, ...known.filter((one) => one.id !== id)].slice(0, KEPT));
}

export function forgotten(id: string): Remembered[] {
  return store(remembered().filter((one) => one.id !== id));
}

export function forgetAll(): void {
  store([]);
}

function store(list: Remembered[]): Remembered[] {
  try {
    localStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // Storage is switched off: the list lasts as long as the page.
  }
  return list;
}
