/** What the home has, and how it is: asked again while a person looks. */
import type { SessionView } from "@edgecall/client/routes.ts";
import { useEffect, useRef } from "preact/hooks";
import { useLostSince } from "./connection.ts";
import { type Loaded, useLoaded } from "./load.tsx";
import { type Thing, thingsOf } from "./things.ts";

/** Each time wakes the home and its bridge, so not often. */
const LOOK_EVERY_MS = 15_000;
/** Machines of a home; a larger fleet is searched on its screen. */
const MACHINES = 500;

export type HomeThings = {
  /** Undefined until the gateway has answered. */
  things: Thing[] | undefined;
  /** The bridge does not say how the broker's devices are. */
  isSilent: boolean;
  /** Descriptions on the broker that were left out. */
  leftOut: readonly { why: string; count: number }[];
  status: Loaded<StatusAnswer>["value"];
  problem: string | undefined;
  reload: () => void;
};
type StatusAnswer = NonNullable<ReturnType<typeof useLoaded<"GET /v1/status">>["value"]>;

export function useHome(session: SessionView): HomeThings {
  const devices = useLoaded("GET /v1/devices");
  const machines = useLoaded("GET /v1/agents", { query: { hosted: "no", limit: MACHINES } });
  const status = useLoaded("GET /v1/status");
  const reload = () => {
    devices.reload();
    machines.reload();
    status.reload();
  };
  const lost = useLostSince();
  const wasLost = useRef(false);
  useEffect(() => {
    // The gateway is back.
    if (lost === undefined && wasLost.current) reload();
    wasLost.current = lost !== undefined;
  }, [lost]);
  useRepeated(reload);
  const mayCommand = session.scopes?.includes("command") ?? false;
  const all = devices.value?.devices ?? [];
  return {
    things: devices.value && machines.value ? thingsOf(all, machines.value.agents, mayCommand) : undefined,
    isSilent: all.length > 0 && all.every(({ readings }) => readings === null),
    leftOut: devices.value?.left_out ?? [],
    status: status.value,
    problem: devices.problem ?? machines.problem,
    reload,
  };
}

/** Calls it while the page is seen, and at once when somebody comes back to it. */
function useRepeated(look: () => void): void {
  useEffect(() => {
    const whenSeen = () => {
      if (document.visibilityState === "visible") look();
    };
    const timer = setInterval(whenSeen, LOOK_EVERY_MS);
    document.addEventListener("visibilitychange", whenSeen);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", whenSeen);
    };
  }, []);
}
