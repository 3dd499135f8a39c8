/** What the relay says of a request of a device. */

export type Admission = { ok: true } | { ok: false; status: 401 | 429; code: string; message: string };

/** The refusal of a device at the relay. An unknown home gets the same answer. */
export function relayUnsigned(agent: string): Admission & { ok: false } {
  const message = `the token is not signed with the key on record for '${agent}'`;
  return { ok: false, status: 401, code: "unauthorized", message };
}
