/** A doctor's findings, and the checks of links that both services have. */
import { describeCondition, type ShownCondition } from "@edgecall/core/conditions/conditions.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import type { BrokerCheck } from "@edgecall/pi-agent/service/broker-check.ts";
import { type CommandCall, EXIT } from "../../command.ts";
import { fetchProblem } from "../../fetch-problem.ts";
import { fileProblem } from "../file-problem.ts";
import { serviceState, whatItSays } from "../service-state.ts";
import type { Service } from "../services.ts";
import { isOnCommand, schedule } from "../units/update-units.ts";
import { pinnedGateway } from "../updates/gateway-pin.ts";

/** `left`: nothing to check, or left out on purpose. */
export type Finding = { link: string; is: "fine" | "wrong" | "left"; says: string; todo?: string };

export const fine = (link: string, says: string): Finding => ({ link, is: "fine", says });
export const wrong = (link: string, says: string, todo: string): Finding => ({
  link,
  is: "wrong",
  says,
  todo,
});
export const left = (link: string, says: string, todo?: string): Finding =>
  todo === undefined ? { link, is: "left", says } : { link, is: "left", says, todo };

/** The findings of conditions. @param of what they are about, where that is not said by the link */
export function conditionFindings(
  link: string,
  conditions: readonly Omit<ShownCondition, "code">[] = [],
  of?: string,
): Finding[] {
  return conditions.map(({ severity, text, cure }) => ({
    link,
    is: severity === "wrong" ? "wrong" : "left",
    says: of === undefined ? text : `${of}: ${text}`,
    todo: cure,
  }));
}

/** The same of conditions as a program on this machine tells them. @param agent its id, for the cures */
export function findingsOfConditions(
  link: string,
  conditions: readonly Condition[] = [],
  agent?: string,
): Finding[] {
  return conditionFindings(
    link,
    conditions.map((condition) => describeCondition(condition, agent)),
  );
}

const SIGNS = { fine: "ok   ", wrong: "WRONG", left: "-    " } as const;

/** Shows the findings. @returns the exit code: 0 when nothing is wrong */
export function printFindings(findings: readonly Finding[], { flag, io }: CommandCall): number {
  io.out(flag("json") ? `${JSON.stringify(findings)}\n` : findings.map(line).join(""));
  return findings.every(({ is }) => is !== "wrong") ? EXIT.ok : EXIT.failed;
}

function line({ link, is, says, todo }: Finding): string {
  return `${SIGNS[is]} ${link.padEnd(9)} ${says}\n${todo === undefined ? "" : `      ${"".padEnd(9)} → ${todo}\n`}`;
}

/** A gateway on Cloudflare answers in a hundredth of this time. */
const GATEWAY_WITHIN_MS = 10_000;

/** Checks that a gateway answers at its `/healthz`. @param todo for an answer of something else, and for none */
export async function findHealth(url: string, todo: { other: string; none: string }): Promise<Finding> {
  const link = "gateway";
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(GATEWAY_WITHIN_MS) });
    return ok ? fine(link, `${url} answers`) : wrong(link, `${url}: ${status}`, todo.other);
  } catch (error) {
    return wrong(link, `${url}: ${fetchProblem(error)}`, todo.none);
  }
}

export async function findService(service: Service): Promise<Finding> {
  const link = "service";
  const { unit, name } = service;
  const { active, sub, restarts, result } = await serviceState(unit);
  if (active !== "active") {
    const todo =
      active === "inactive" ? `sudo systemctl enable --now ${unit}` : `journalctl -u ${unit} -n 50`;
    return wrong(link, `${active} (${sub}), last end: ${result}, ${restarts} restarts`, todo);
  }
  const says = whatItSays(service);
  if (says.is === "unreadable") return wrong(link, says.why, `sudo edgecall ${name} doctor`);
  if (says.is === "not running" || !says.status.online) {
    return wrong(link, "running, but offline", "see below");
  }
  return fine(link, `${says.status.version}, online since ${says.status.since}`);
}

/** Shows where the next version would come from. It is no fault to have no updates. */
export async function findUpdates(service: Service): Promise<Finding> {
  const link = "updates";
  const when = [
    ...((await isOnCommand(service)) ? ["on command"] : []),
    ...((await schedule(service)).on ? ["at night"] : []),
  ];
  try {
    const { url } = await pinnedGateway();
    return fine(link, `from ${url}, ${when.join(" and ") || "by hand"}`);
  } catch (error) {
    return left(link, fileProblem(error));
  }
}

/** Words for the finding: the setting of the address, the meaning of a refused login, and the program that asks. */
export type BrokerTexts = { url: string; refused: string; section: string; who: string };

/** @param url without a password */
export function brokerFinding(url: string, check: BrokerCheck, words: BrokerTexts): Finding {
  const link = "broker";
  switch (check.is) {
    case "reached":
      return fine(link, `${url} answers`);
    case "forbidden":
      return wrong(
        link,
        `${url} refuses ${words.who} its own topics`,
        "let the user read and write TOPIC_PREFIX/agents/AGENT_ID/# in the broker's ACL",
      );
    case "failed":
      return {
        link,
        is: "wrong",
        // Node's texts for sockets begin with the code; others do not.
        says: `${url}: ${check.message.includes(check.code) ? check.message : `${check.message} ${check.code}`}`,
        todo: brokerTodo(url, check.code, words),
      };
  }
}

/** MQTT 3.1.1's return codes for a refused connection: 4 bad user name or password, 5 not authorized. */
function brokerTodo(address: string, code: string, { url, refused, section }: BrokerTexts): string {
  switch (code) {
    case "ECONNREFUSED":
      return isLoopback(address)
        ? `nothing listens there, which is this machine itself: does Mosquitto run here (systemctl status mosquitto edgecall-broker)? If the home's broker is on another machine, ${url} has to name that one`
        : `nothing listens there: is Mosquitto running there (systemctl status mosquitto edgecall-broker), and is ${url} right?`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `no such name: is the host in ${url} right, and is the network up?`;
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return "the host does not answer: is it on, in this network, and is its port open?";
    case "4":
    case "5":
      return refused;
    default:
      return `check ${section}: the address, mqtts:// for TLS, and the authority of its certificate`;
  }
}
