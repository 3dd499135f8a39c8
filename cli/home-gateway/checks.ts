/** `edgecall gateway status` and `edgecall gateway doctor`, on the gateway's own machine. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@edgecall/node/log.ts";
import { findUnwritable, unwritableCondition } from "@edgecall/node/writable.ts";
import { type CommandCall, EXIT } from "../command.ts";
import {
  type Finding,
  findHealth,
  findingsOfConditions,
  findService,
  fine,
  printFindings,
  wrong,
} from "../service/checks/findings.ts";
import { readEnvironment } from "../service/environment-file.ts";
import { Releases } from "../service/releases/releases.ts";
import { serviceState, whatItSays } from "../service/service-state.ts";
import { GATEWAY } from "../service/services.ts";
import { portOf } from "./install.ts";

/** Exit code 0: it answers. */
export async function status({ flag, io }: CommandCall): Promise<number> {
  const { active, sub, enabled, restarts } = await serviceState(GATEWAY.unit);
  const releases = new Releases(GATEWAY.places.programs);
  const versions = {
    current: (await releases.current()) ?? null,
    rolled_back: (await releases.rolledBack()) ?? null,
  };
  const says = whatItSays(GATEWAY);
  const told = says.is === "read" ? says.status : null;
  if (flag("json"))
    io.out(`${JSON.stringify({ service: { active, sub, enabled, restarts }, versions, gateway: told })}\n`);
  else {
    const lines = [
      `service   ${active} (${sub})${enabled ? "" : ", not started at boot"}, ${restarts} restarts`,
      `version   ${versions.current ?? "not installed"}`,
      ...(versions.rolled_back === null ? [] : [`went back from ${versions.rolled_back}: it did not answer`]),
      ...(told === null
        ? [says.is === "unreadable" ? `gateway   cannot be asked: ${says.why}` : "gateway   is not running"]
        : [
            `gateway   ${told.version}, since ${told.since}, ${told.network_url ?? `${told.url}, this machine alone`}`,
            ...told.bots.map(
              (bot) => `telegram  ${bot.connection}: ${bot.problem ?? "messages are fetched"}`,
            ),
            ...told.last_errors.map(({ ts, event, error }) => `  ${ts} ${event} ${error}`),
          ]),
    ];
    io.out(`${lines.join("\n")}\n`);
  }
  return told?.online ? EXIT.ok : EXIT.failed;
}

/** Exit code 0: nothing is wrong. */
export async function doctor(call: CommandCall): Promise<number> {
  const settings = findSettings();
  const findings: Finding[] = [settings.finding];
  if (existsSync(GATEWAY.places.unit)) findings.push(await findService(GATEWAY));
  if (settings.variables) {
    const log = `journalctl -u ${GATEWAY.unit} -n 50`;
    const todo = { other: `is PORT another program's? ${log}`, none: log };
    findings.push(await findHealth(`http://127.0.0.1:${settings.port}/healthz`, todo), ...(await findRows()));
    findings.push(findModel(settings.variables));
  }
  const says = whatItSays(GATEWAY);
  for (const { connection, problem } of says.is === "read" ? says.status.bots : [])
    findings.push(
      problem === undefined
        ? fine("telegram", `${connection}: messages are fetched`)
        : wrong("telegram", `${connection}: ${problem}`, "in the console: Setup, Check"),
    );
  return printFindings(findings, call);
}

type Settings = { finding: Finding; port: number; variables?: Record<string, string> };

function findSettings(): Settings {
  const link = "settings";
  const file = GATEWAY.places.settings;
  try {
    const text = readFileSync(file, "utf8");
    return {
      finding: fine(link, file),
      port: portOf(text),
      variables: readEnvironment(text),
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const todo =
      code === "EACCES"
        ? "sudo edgecall gateway doctor"
        : code === "ENOENT"
          ? "sudo node edgecall-gateway/edgecall.cjs gateway install"
          : `correct ${file}`;
    return { finding: wrong(link, messageOf(error), todo), port: 0 };
  }
}

/** Tells whether the rows can be stored. It writes nothing: root would leave files. */
async function findRows(): Promise<Finding[]> {
  const found = await findUnwritable(join(GATEWAY.places.state, "worker"), { tries: false });
  if (!found) return [fine("rows", `${GATEWAY.places.state} can be written`)];
  return findingsOfConditions("rows", [unwritableCondition("rows", found)]);
}

function findModel({ LLM_BASE_URL, LLM_MODEL }: Record<string, string>): Finding {
  const link = "model";
  if (LLM_BASE_URL && LLM_MODEL) return fine(link, `${LLM_MODEL} at ${LLM_BASE_URL}`);
  return wrong(
    link,
    "LLM_BASE_URL and LLM_MODEL are not both set",
    `set them in ${GATEWAY.places.settings}, then: sudo systemctl restart ${GATEWAY.unit}`,
  );
}
