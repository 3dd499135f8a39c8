/** A key is revoked while the bridge still verifies the texts of many agents. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { newPassword, passwordHash } from "@edgecall/core/broker/mosquitto.ts";
import { topicOf } from "@edgecall/core/protocol/names.ts";
import { PAIR } from "@edgecall/core/testkit/signing-cases.ts";
import { connectAsync } from "mqtt";
import { test } from "vitest";
import { until } from "../test/wait.ts";
import { usePlayed } from "./testkit/played.ts";

const played = usePlayed();
/** To verify so many takes longer than the bridge works without a break. */
const COUNT = 600;
const ids = Array.from({ length: COUNT }, (_, n) => `agent-${n}`);

/** An advert whose signature is of no key. */
const advertOf = (id: string) =>
  `${JSON.stringify({ agent_id: id, capabilities: id, features: ["v1"], boot_id: "b", n: 1 }).slice(0, -1)},"sig":"${"A".repeat(86)}"}`;

test("its login does not come back to the broker's files", async () => {
  const folder = mkdtempSync(join(tmpdir(), "revoked-"));
  played.after(() => rmSync(folder, { recursive: true, force: true }));
  const client = await connectAsync(played.broker.url, { protocolVersion: 4 });
  played.after(() => client.endAsync(true));
  for (const id of ids)
    await client.publishAsync(topicOf("evoclaw", id, "capabilities"), advertOf(id), { qos: 1, retain: true });
  played.start({ brokerFiles: folder });
  await played.home.next("snapshot", ({ last }) => last);

  const login = await passwordHash(newPassword());
  const key = PAIR.publicKey;
  played.home.keys = [...ids.map((id) => ({ id, key, n: 0 })), { id: "pi", key, n: 0, login }];
  played.home.afterWelcome = [{ t: "keys", part: true, keys: [{ id: "pi", key: null, n: 0 }] }];
  played.home.frames.length = 0;
  played.home.drop();
  await played.home.next("snapshot", ({ last }) => last);
  await until(() => played.log("broker.files_written"), { what: "the broker's files" });
  await pause(300);
  await until(() => !readFileSync(join(folder, "passwords"), "utf8").includes("pi:"), {
    what: "the revoked agent has no password",
  });
}, 30_000);
