/**
 * The words of news about rules that act, in English. The gateway tells it; the other languages are in its files beside the console
 * (local/language-files.ts).
 */
export const NEWS_WORDS = {
  ran: "✓ {name}, {time}: {text}",
  failed: "⚠ {name}, {time}: {text}",
  notRun: "⚠ {name} did not run at {time}: {why}.",
  isPaused: "⏸ {name} is paused: {why}.",
  inOrder: "{why} ({names})",
  isCritical: "It was to end, and that is not confirmed. Please look there.",
  isDone: "Done.",
  isUndone: "Undone.",
  reportedLate: "{name}: reported late, so it was done after all.",
  nothingSent: "{name}: nothing was sent.",
  restLeft: "What was to follow was left out.",
  becauseOf: "Because: {values}.",
  ranBefore:
    "It ran {count} time before this, all confirmed.|It ran {count} times before this, all confirmed.",
  meanwhile: "Meanwhile your home ran rules: {names}.",
  ranTimes: "{name} {count} time|{name} {count} times",
  endsSoon: "⏳ {name} may act until {time}. Pause and resume it, and it may for longer.",
  newsLost:
    "⚠ {count} message of rules was lost: too many had to wait for the gateway.|⚠ {count} messages of rules were lost: too many had to wait for the gateway.",
  ruleActs: "✔ The rule “{name}” ({id}) acts from now on.",
  saidAway: "You count as away.",
  saidBack: "You count as being at home.",
  is_armed: "ready",
  is_waiting: "has to be over first",
  is_running: "running",
  is_resting: "rests",
  is_unknown: "a value is not known",
  is_stopped: "stopped",
  stopRule: "Stop this rule",
  verbAllow: "Allow",
} as const;

/** Why a rule did not run, stopped or paused (state.ts), each as a part of a sentence. */
export const WHY_WORDS = {
  not_sent: "a command could not be sent",
  unconfirmed: "a device did not report in time",
  unknown: "it is not known whether a command was sent",
  late: "its time was over by ten minutes or more",
  only_if: "it was to run only if something else is so",
  missed_danger: "it became so while nothing looked, and what does harm is not made up for",
  limits: "rules have sent as many commands as they may",
  paused: "a person paused it",
  dropped: "it was taken away",
  changed_rule: "it was changed",
  device_changed: "a device of it is another one now",
  device_gone: "a device of it is gone",
  loop: "rules made each other run",
  too_often: "it ran too often; it goes on in an hour",
  not_allowed: "it is not allowed any more",
  ruleTimeOver: "it was allowed for a time that is over; an owner can allow it anew",
  ruleDeviceOff: "a device of it may not be changed any more",
  ruleOwnerGone: "whoever allowed it is no owner any more",
  ruleEnded: "a person ended its permission",
} as const;
