/** The order of things that does not change under a finger: what a press switches on stays where it is. */
import { useRef } from "preact/hooks";
import { byWeight, type Thing } from "./things.ts";

/** @returns the order by weight, in which a thing counts as on or off as it was when it was first seen on this screen */
export function useSteadyOrder(things: readonly Thing[]): (a: Thing, b: Thing) => number {
  const first = useRef(new Map<string, boolean>());
  for (const { id, isOn } of things) if (!first.current.has(id)) first.current.set(id, isOn);
  const asFirst = (thing: Thing): Thing => ({ ...thing, isOn: first.current.get(thing.id) ?? thing.isOn });
  return (a, b) => byWeight(asFirst(a), asFirst(b));
}
