/**
 * What the bridge says of rules that act where it is asked, in English. The bridge alone says it, so it is in no other program; the other languages
 * are beside the words of cards.
 */
export const HOME_WORDS = {
  notUndoable: "It cannot be undone: what it changed was changed since, or how it was before is not known.",
  undoOver: "It ended more than a day ago, so it cannot be undone any more.",
  backAsks: "No button undoes this, since the way back may do harm. Ask for it in words.",
  undoLate: "It was not undone in time. The rule's next message says what became of it.",
  nothingToUndo: "There was nothing to undo.",
  stepUndone: "{name}: as it was before.",
  stepKept: "{name}: changed since, so it stays.",
  noSunrise: "There is no sunrise these days.",
  noSunset: "There is no sunset these days.",
  nextTime: "Next time: {day}.",
} as const;
