/** What the rest of the Worker asks a home about passkeys. */

import { mayAnswer, maySee } from "../../api/may-see.ts";
import { NEEDS_OTHER_DEVICE, NEEDS_PASSKEY, type Refusal } from "../../api/passkeys.ts";
import type { PasskeysApi, RequestToConfirm, Showing } from "../../api/passkeys-api.ts";
import { auditDecision } from "../audit/decisions.ts";
import type { HomeContext } from "../context.ts";
import { questionsOf } from "../ledger/questions.ts";
import type { HomePart } from "../part.ts";
import { challengeFor, countsLater, type Subject, verifyProof } from "../passkeys/confirmations.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import { beginRegistration, makeCode, register, removePasskey, useCode } from "../passkeys/registrations.ts";
import { approversChats, whatOf } from "../questions/answer-levels.ts";
import { ownedBy } from "../questions/owned-by.ts";

export const passkeysRpc: HomePart<PasskeysApi> = {
  list: async ({ home }, person) => passkeysOf(home).list(person),
  async taps({ home }) {
    const trusted = passkeysOf(home).trustedTaps();
    const accounts = approversChats(home).map(({ account }) => account);
    return [...new Set([...accounts, ...trusted])].map((account) => ({
      account,
      trusted: trusted.includes(account),
    }));
  },
  async trustTap({ home }, account, trusted, caller) {
    const store = passkeysOf(home);
    if (trusted && !approversChats(home).some((one) => one.account === account)) return false;
    if (trusted) store.trustTap(account, caller.principal, Date.now());
    else if (!store.distrustTap(account)) return false;
    auditDecision(home, trusted ? "trust_tap" : "distrust_tap", caller, { account });
    return true;
  },
  confirmRequest: async ({ home }, request) => await confirmRequest(home, request),
  async challengeRequest({ home }, { caller: { principal: person }, place, what, about }) {
    const challenge = await challengeFor(home, {
      person,
      place,
      subject: subjectOf({ what, about }),
      shown: about,
    });
    return challenge ?? noneHere(home, person);
  },
  async challengeAnswer({ home }, id, { answer, keep }, viewer, place) {
    const question = questionsOf(home).get(id);
    const owned = question && ownedBy(home, question);
    if (!owned || !maySee(viewer, { ...owned, kind: "conversation" }))
      return { ok: false, status: 404, code: "not_found", message: "no such question" };
    if (!mayAnswer(viewer, owned))
      return {
        ok: false,
        status: 403,
        code: "forbidden",
        message: "approving needs a token with the scope 'approve'",
      };
    if (question.answer !== null)
      return { ok: false, status: 409, code: "answered", message: "the question is closed already" };
    const subject = { about: id, what: whatOf(question), answer, keep };
    const about = { person: viewer.name, place, subject, shown: question.text };
    return (await challengeFor(home, about, question.expiresAt)) ?? noneHere(home, viewer.name);
  },
  async begin({ home }, person, place, showing) {
    const shown = await shownBy(home, person, showing);
    return typeof shown === "string" ? await beginRegistration(home, { person, place, shown }) : shown;
  },
  register: async ({ home }, made, place, caller) =>
    await register(home, { person: caller.principal, place, made }, caller),
  async remove({ home }, id, caller, anybodys, showing) {
    const passkey = passkeysOf(home).get(id);
    if (!passkey || (passkey.person !== caller.principal && !anybodys))
      return { ok: false, status: 404, code: "not_found", message: "no such passkey" };
    // It confirms nothing yet, so a session may end it.
    const waits = passkey.countsAt > Date.now();
    if (!showing && !waits) return needsMore();
    const shown = showing ? await shownBy(home, caller.principal, showing) : "wait";
    if (typeof shown !== "string") return shown;
    await removePasskey(home, passkey, caller, shown);
    return { ok: true };
  },
  async rename({ home }, id, name, caller) {
    const passkey = passkeysOf(home).get(id);
    if (passkey?.person !== caller.principal) return undefined;
    passkeysOf(home).rename(id, name);
    auditDecision(home, "passkey_rename", caller, { from: passkey.name, to: name });
    return passkeysOf(home)
      .list(caller.principal)
      .find((one) => one.id === id);
  },
  makeCode: async ({ home }, person) => await makeCode(home, person),
};

async function confirmRequest(
  home: HomeContext,
  { caller, place, what, about, proof, isStrict = false }: RequestToConfirm,
): Promise<{ ok: true; byPasskey: boolean } | Refusal> {
  const store = passkeysOf(home);
  const { principal: person } = caller;
  if (!isStrict && !store.any()) return { ok: true, byPasskey: false };
  if (!place || store.of(person, place.host).length === 0) return noneHere(home, person);
  if (!proof)
    return {
      ok: false,
      status: 403,
      code: NEEDS_PASSKEY,
      message: "This gives more rights, so a press here is not enough: confirm it with your passkey.",
    };
  const proven = await verifyProof(home, { person, place, proof, subject: subjectOf({ what, about }) });
  if (!proven.ok) return proven;
  if (proven.passkey.harmAt > Date.now()) return countsLater(home, proven.passkey);
  if (!proven.use())
    return { ok: false, status: 403, code: "not_confirmed", message: "this confirmation was used already" };
  auditDecision(home, "confirmed", caller, { request: about, by: "passkey" });
  return { ok: true, byPasskey: true };
}

function needsMore(): Refusal {
  return {
    ok: false,
    status: 403,
    code: "needs_more",
    message:
      "a session alone is not enough: type your token again, or a code of `edgecall passkey`, or confirm with a passkey that you have",
  };
}

function subjectOf({ what, about }: Pick<Subject, "what" | "about">): Subject {
  return { about, what, answer: "do", keep: "" };
}

/** The person's passkeys are for other addresses, or they have none. */
function noneHere(home: HomeContext, person: string): Refusal {
  const hosts = [
    ...new Set(
      passkeysOf(home)
        .list(person)
        .map(({ host }) => host),
    ),
  ];
  const message =
    hosts.length === 0
      ? "you have no passkey; add one in Setup, Passkeys"
      : `your passkeys are for ${hosts.join(" and ")}: open the console there, or add one for this address (Setup, Passkeys)`;
  return { ok: false, status: 403, code: NEEDS_OTHER_DEVICE, message };
}

async function shownBy(home: HomeContext, person: string, showing: Showing) {
  if ("shown" in showing) return showing.shown;
  if (await useCode(home, showing.code, person)) return "code" as const;
  return {
    ok: false,
    status: 403,
    code: "forbidden",
    message: "code: wrong, used, over, or another person's; `edgecall passkey` prints a new one",
  } satisfies Refusal;
}
