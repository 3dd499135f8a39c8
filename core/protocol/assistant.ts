/** Home Assistant on the wire: whether a home's bridge is connected to one, and how a person's browser connects it. */
import { z } from "./parse.ts";

/** The word in a bridge's hello by which it says that it answers `assistant`. */
export const ASSISTANT_FEATURE = "assistant";

const text = (max: number) => z.string().check(z.maxLength(max));
/** Chosen by the gateway: it names a sign-in that a person began. */
const state = z.string().check(z.regex(/^[\w-]{20,64}$/));

/** Home Assistant's redirect brings it: `code` is redeemed for a token. */
export const SignInCode = z.object({ state, code: z.string().check(z.minLength(1), z.maxLength(300)) });

/** Home's question to the bridge; none of the fields: how it is. */
export const AssistantQuestion = z.object({
  /** A person's browser is about to sign in there. */
  begin: z.optional(z.object({ url: text(300), client: text(300), redirect: text(300), state })),
  /** The browser came back with this code. */
  finish: z.optional(SignInCode),
  /** The bridge gives up what it was given by a sign-in. */
  forget: z.optional(z.literal(true)),
});
export type AssistantQuestion = z.infer<typeof AssistantQuestion>;

export const AssistantState = z.object({
  url: text(300),
  /** `settings`: HA_URL names it. */
  by: z.enum(["settings", "sign_in"]),
  up: z.boolean(),
  version: z.optional(text(40)),
  /** The user whose rights the bridge has there. */
  user: z.optional(text(100)),
  admin: z.optional(z.boolean()),
  /** Its devices that are agents. */
  shown: z.int().check(z.minimum(0)),
  /** The reason why it is not connected, for a person. */
  problem: z.optional(text(600)),
});
export type AssistantState = z.infer<typeof AssistantState>;

export const AssistantAnswer = z.object({
  /** null: none is connected. */
  state: z.nullable(AssistantState),
  /** To `begin`: the address that the browser opens. */
  authorize: z.optional(z.string().check(z.maxLength(2_000), z.regex(/^https?:\/\//))),
  /** The reason why nothing was done, for a person. */
  error: z.optional(text(500)),
});
export type AssistantAnswer = z.infer<typeof AssistantAnswer>;
