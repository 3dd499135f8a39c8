/** Injects one fault, and mends it again. */
import { setTimeout as sleep } from "node:timers/promises";
import { childrenNamed } from "../../local/workerd-guard.ts";
import { until } from "../wait.ts";
import { request } from "./client.ts";
import { FAULTS, type FaultName, type Target } from "./fault-names.ts";
import type { Deaf, Link } from "./link.ts";
import type { PlannedFault } from "./plan.ts";
import type { Program } from "./program.ts";
import type { ChaosStack } from "./stack.ts";

/** A cut link refuses new connections for at most this long, because the cut itself is the fault. */
const CUT_MAX_MS = 1_000;
/** A page has 4 KiB, and a read adds about 500 bytes to the ledger. */
const LAST_PAGE_READS = 10;
/** Miniflare normally restarts workerd within a tenth of a second. */
const WORKERD_WITHIN_MS = 20_000;
/** A report takes so long through bridge, Home and conversation and back as an ack. */
const STRIKE_WITHIN_MS = 16;
const DEAF: readonly Deaf[] = ["both", "toServer", "toClient"];

/** Returns the target of the fault, so that no other fault is injected there meanwhile. */
export function targetOf(fault: PlannedFault): string {
  const { target } = FAULTS[fault.name];
  const one: readonly Target[] = ["agent", "link:agent-broker", "disk"];
  return one.includes(target) ? `${target} ${fault.agent}` : target;
}

/** Returns why this machine cannot inject a fault, or undefined. */
export function missingFor(name: FaultName, stack: ChaosStack): string | undefined {
  if (name === "fill:disk" && Object.values(stack.agents).some((agent) => agent.disk === undefined))
    return "mounting a small disk takes root";
  return undefined;
}

/** Injects the fault. Resolves when it is mended: the process runs again, or the link works again. */
export async function inject(stack: ChaosStack, fault: PlannedFault, why: string): Promise<void> {
  const { name, lasts } = fault;
  const { kind } = FAULTS[name];
  switch (kind) {
    case "kill":
      return await kill(stack, fault, why);
    case "strike":
      return await strike(stack, fault, why);
    case "freeze": {
      const program = programOf(stack, fault);
      program.freeze(why);
      await sleep(lasts);
      program.thaw();
      return;
    }
    case "fill": {
      const { disk, program } = stack.agents[fault.agent];
      program.note(`disk full: ${why}`);
      disk?.fill();
      await Promise.all([sleep(lasts), useUpLastPage(stack, fault)]);
      disk?.free();
      program.note("disk free");
      return;
    }
    case "cut":
    case "half-open":
    case "slow":
    case "duplicate":
    case "reorder":
    case "replay":
      await Promise.all(linksOf(stack, fault).map((link) => onLink(link, fault)));
  }
}

/** A full disk still has room in the last page of each file. Reads fill it, because the ledger records each of them. */
async function useUpLastPage(stack: ChaosStack, { agent }: PlannedFault): Promise<void> {
  const body = JSON.stringify({ command: "tool", payload: { tool: "memory", parameters: {} } });
  const { id, gatewayUrl } = stack.agents[agent];
  const read = () => request(gatewayUrl, `/v1/agents/${id}/commands`, { method: "POST", body });
  // Reads fail when another fault stops them, and then the disk is only a little less full.
  await Promise.allSettled(Array.from({ length: LAST_PAGE_READS }, read));
}

async function onLink(link: Link, { name, lasts, slow, at }: PlannedFault): Promise<void> {
  const { kind } = FAULTS[name];
  const topic = name.endsWith(":reports") ? "reports" : "commands";
  let wait = lasts;
  if (kind === "cut") {
    link.cut();
    wait = Math.min(lasts, CUT_MAX_MS);
  } else if (kind === "half-open") link.halfOpen(DEAF[at % DEAF.length] ?? "both");
  else if (kind === "slow") link.slow(slow);
  else if (kind === "duplicate" || kind === "reorder" || kind === "replay") link.meddle({ kind, topic });
  await sleep(wait);
  link.mend();
}

/** Kills at a message of the turn's own agent, at the latest when the fault's time is over. */
async function strike(stack: ChaosStack, { name, agent, lasts }: PlannedFault, why: string): Promise<void> {
  const topic = name === "strike:report" ? "reports" : "commands";
  await Promise.race([stack.agents[agent].link.nextMessage(topic), sleep(lasts)]);
  if (name === "strike:report") await sleep(lasts % STRIKE_WITHIN_MS);
  const both = name === "strike:both";
  await Promise.all([
    killWorkerd(stack, why),
    both && stack.bridge.kill(why).then(() => stack.bridge.start()),
  ]);
}

/** Resolves when the Worker's parent has started it again. */
export async function killWorkerd({ worker }: Pick<ChaosStack, "worker">, why: string): Promise<void> {
  const before = childrenNamed("workerd", worker.pid);
  worker.note(`workerd killed: ${why}`);
  for (const pid of before) process.kill(pid, "SIGKILL");
  const back = () => childrenNamed("workerd", worker.pid).some((pid) => !before.includes(pid));
  await until(back, { within: WORKERD_WITHIN_MS, what: "another workerd" });
}

async function kill(stack: ChaosStack, { name, agent }: PlannedFault, why: string): Promise<void> {
  const { broker } = stack;
  if (name === "kill:workerd") return await killWorkerd(stack, why);
  const program = programOf(stack, { name, agent });
  await program.kill(why);
  if (name === "kill:broker-empty") broker.forget();
  await program.start();
}

function programOf(stack: ChaosStack, { name, agent }: Pick<PlannedFault, "name" | "agent">): Program {
  const { target } = FAULTS[name];
  if (target === "worker" || target === "bridge") return stack[target];
  if (target === "broker") return stack.broker.program;
  if (target === "lender") return stack.lender.worker;
  return stack.agents[agent].program;
}

function linksOf(stack: ChaosStack, { name, agent }: PlannedFault): Link[] {
  const { target } = FAULTS[name];
  switch (target) {
    case "link:client":
      return [stack.links.client];
    case "link:gateway":
      return [stack.links.gateway];
    case "link:bridge-broker":
      return [stack.links["bridge-broker"]];
    case "link:peer":
      // One for the requests of each home.
      return [stack.links.public, stack.lender.links.public];
    default:
      return [stack.agents[agent].link];
  }
}
