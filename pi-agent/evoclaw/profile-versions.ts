/** The part that `update_strategy` and `update_genome` share: one profile, its versions, and going back to one. */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { notForGuests } from "../calls/authority.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";
import type { Profile } from "./profile.ts";

/**
 * Makes a command that changes the profile. Repeating the same change has no effect. Every reply, also a refusal, names the
 * version in force.
 * @param act handles the actions that only this command has
 */
export function teaching(
  profile: Profile,
  act: (payload: Record<string, unknown>) => Promise<Reply> | Reply,
): (command: Command) => Promise<Reply> {
  return async (command) => {
    const { payload } = command;
    const refusal = notForGuests(command);
    const reply =
      refusal === undefined
        ? ((await versionAction(payload, profile)) ?? (await act(payload)))
        : failed(refusal);
    return { ...reply, payload: { version: profile.version, ...reply.payload } };
  };
}

/** @returns undefined when the action is neither */
async function versionAction(payload: Record<string, unknown>, profile: Profile): Promise<Reply | undefined> {
  if (payload.action === "history") {
    return succeeded({ status: "success", versions: profile.history() });
  }
  if (payload.action !== "rollback") return undefined;
  const { version } = payload;
  if (!Number.isInteger(version)) {
    const versions = profile.history().map((one) => one.version);
    return failed(`missing version: right would be one of: ${versions.join(", ")}`);
  }
  const change = await profile.back(version as number);
  if (!change.ok) return failed(change.error);
  return succeeded({ status: "rolled_back", restored: version, version: change.version });
}
