/** Names of the home's devices, for screens that otherwise have only their ids: asked for once in a visit. */
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useState } from "preact/hooks";
import { client } from "./api.ts";

type Names = ReadonlyMap<string, string>;

const NONE: Names = new Map();
let known: Promise<Names> | undefined;

async function load(): Promise<Names> {
  const { devices } = await client.json("GET /v1/devices");
  return new Map(devices.map(({ id, name }) => [id, visible(name)]));
}

/** @returns a device's name, or its id where none is known (yet) */
export function useNames(): (id: string) => string {
  const [names, setNames] = useState(NONE);
  useEffect(() => {
    known ??= load();
    known.then(setNames, () => {
      // The next screen asks again.
      known = undefined;
    });
  }, []);
  return (id) => names.get(id) ?? visible(id);
}
