/** What `update_strategy` and `update_genome` have in common: one profile, its versions, and the way back. */
import type { CommandKind, Device } from "../calls/command.ts";
import { notForGuests } from "../commands/authority.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";

/**
 * A command that changes the profile. The same once more changes nothing more; every reply tells the version
 * in force, also one that refuses.
 *
 * @param act what it does beside the actions of every such command
 */
export function teaching(
  act: (payload: Record<string, unknown>, device: Device) => Promise<Reply> | Reply,
): CommandKind {
  return {
    kind: "work",
    idempotent: () => true,
    async run({ command }, device) {
      const { payload } = command;
      const refusal = notForGuests(command);
      const reply =
        refusal === undefined
          ? ((await versionAction(payload, device)) ?? (await act(payload, device)))
          : failed(refusal);
      return { ...reply, payload: { version: device.profile.version, ...reply.payload } };
    },
  };
}

/** @returns undefined when the action is neither */
async function versionAction(
  payload: Record<string, unknown>,
  { profile }: Device,
): Promise<Reply | undefined> {
  if (payload.action === "history") {
    return succeeded({ status: "success", versions: profile.history() });
  }
  if (payload.action !== "rollback") return undefined;
  const { version } = payload;
  if (!Number.isInteger(version)) {
    const kept = profile.history().map((one) => one.version);
    return failed(`missing version: right would be one of: ${kept.join(", ")}`);
  }
  const change = await profile.back(version as number);
  if (!change.ok) return failed(change.error);
  return succeeded({ status: "rolled_back", restored: version, version: change.version });
}
