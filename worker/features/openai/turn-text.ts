/** Errors of answers that cannot be completed, in OpenAI's form: some clients read none of its members if one is missing. */
const common = { type: "server_error", param: null };

export const TAKEN_BACK = {
  ...common,
  code: "step_retried",
  message:
    "The model broke off and has to be asked again, and what was shown cannot be taken back here. The turn was stopped; please ask again.",
};
export const LOST = {
  ...common,
  code: "connection_lost",
  message: "The gateway lost sight of this turn; it may still be at work. Please look again in a moment.",
};
