import { everybody } from "../../test/platforms/people.ts";
import { testVars } from "../../test/tokens.ts";
import { startBenchWorker } from "../started.ts";
import { type Acks, measureAcks } from "./acks.ts";
import { type FirstTokens, measureFirstTokens } from "./first-token.ts";
import { startModel } from "./model.ts";

/** Without a delay, for the gateway's own time; and with the delay of a model behind an API. */
const FIRST_TOKEN_MS = [0, 300] as const;

export type Fronts = { acks: Acks; firstTokens: FirstTokens[] };
export type FrontsPlan = { acksMs: number; firstTokens: number };

export async function measureFronts(dir: string, plan: FrontsPlan): Promise<Fronts> {
  const model = await startModel();
  let gateway = "";
  const people = Object.values(await everybody((path, init) => fetch(gateway + path, init)));
  const { worker } = await startBenchWorker(dir, "fronts", {
    vars: {
      ...testVars,
      CHANNELS: JSON.stringify(people.map(({ settings }) => ({ ...settings, allow: ["*"] }))),
      LLM_BASE_URL: model.url,
      LLM_MODEL: "bench",
    },
  });
  gateway = worker.url;
  try {
    const firstTokens: FirstTokens[] = [];
    for (const ms of FIRST_TOKEN_MS)
      firstTokens.push(await measureFirstTokens(gateway, model.url, ms, plan.firstTokens));
    return { firstTokens, acks: await measureAcks(people, plan.acksMs) };
  } finally {
    await worker.stop();
    await Promise.all([model.close(), ...people.map(({ server }) => server.close())]);
  }
}
