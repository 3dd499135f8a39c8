/** The steps of the trial, in order. */
export const STEPS = [
  "four machines are switched on",
  "nothing gets into the home, and the home gets out",
  "the home's first machine: broker and bridge",
  "a device by one command",
  "the first answer through it",
  "a second device",
  "a shell command, once the person approved it",
  "no doctor finds anything wrong",
  "reboot of eye, and a question meanwhile",
  "reboot of arm, and a question meanwhile",
  "reboot of hub, and a question meanwhile",
  "the power at home goes, and comes back",
  "reboot of the gateway, in the middle of a question",
  "the broker is replaced by an empty one",
  "the home's first machine gets an empty disk",
  "a device's key is revoked",
  "it is let in again",
  "the bridge's key is revoked",
  "the bridge is let in again",
  "a device is told to take the newer program",
  "the bridge is told to take it",
  "a bad one goes back by itself",
  "all of it is taken away again",
] as const;

export type StepName = (typeof STEPS)[number];
