/** Texts for streams that cannot be completed. */
export const TAKEN_BACK = {
  code: "step_retried",
  message:
    "The model broke off and has to be asked again, and what was shown cannot be taken back here. The turn was stopped; please ask again.",
};
export const LOST = {
  code: "connection_lost",
  message: "The gateway lost sight of this turn; it may still be at work. Please look again in a moment.",
};
