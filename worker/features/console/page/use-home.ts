/** What the home has, and how it is: asked again while a person looks. */
import type { BorrowedView, SessionView } from "@edgecall/client/routes.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import { useLostSince } from "./connection.ts";
import { type Loaded, useLoaded } from "./load.tsx";
import { type Thing, thingsOf } from "./things.ts";
import { useRepeated } from "./use-repeated.ts";

/** Machines of a home; a larger fleet is searched on its screen. */
const MACHINES = 200;

export type HomeThings = {
  /** Undefined until the gateway has answered. */
  things: Thing[] | undefined;
  /** The bridge does not say how the broker's devices are. */
  isSilent: boolean;
  /** Descriptions on the broker that were left out. */
  leftOut: readonly { why: string; count: number }[];
  /** How many there are, and how many of them `things` has. */
  machines: { total: number; listed: number } | undefined;
  status: Loaded<StatusAnswer>["value"];
  problem: string | undefined;
  reload: () => Promise<unknown>;
};
type StatusAnswer = NonNullable<ReturnType<typeof useLoaded<"GET /v1/status">>["value"]>;

export function useHome(session: SessionView): HomeThings {
  const devices = useLoaded("GET /v1/devices");
  const machines = useLoaded("GET /v1/agents", { query: { hosted: "no", limit: MACHINES } });
  const status = useLoaded("GET /v1/status");
  const lent = useBorrowed(session);
  const reload = () => Promise.all([devices.reload(), machines.reload(), status.reload()]);
  const lost = useLostSince();
  const wasLost = useRef(false);
  useEffect(() => {
    // The gateway is back.
    if (lost === undefined && wasLost.current) void reload();
    wasLost.current = lost !== undefined;
  }, [lost]);
  useRepeated(reload);
  const mayCommand = session.scopes?.includes("command") ?? false;
  const all = devices.value?.devices ?? [];
  return {
    things:
      devices.value && machines.value ? thingsOf(all, machines.value.agents, mayCommand, lent) : undefined,
    isSilent: all.length > 0 && all.every(({ readings }) => readings === null),
    leftOut: devices.value?.left_out ?? [],
    machines: machines.value && {
      total: machines.value.total,
      listed: machines.value.agents.length,
    },
    status: status.value,
    problem: devices.problem ?? machines.problem,
    reload,
  };
}

/** What other homes lend, which is in no other list. For owners. */
function useBorrowed({ role, scopes }: SessionView): BorrowedView[] {
  const [borrowed, setBorrowed] = useState<BorrowedView[]>([]);
  useEffect(() => {
    if (role !== "owner" || !scopes?.includes("admin")) return;
    client.json("GET /v1/lending").then(
      (lending) => setBorrowed(lending.borrowed),
      // Without them, the home's own are still shown.
      () => {},
    );
  }, [role]);
  return borrowed;
}
