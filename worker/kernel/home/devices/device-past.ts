/** Asks the bridge what readings of hosted devices were. It keeps them at home, and nothing of it is stored here. */
import { HISTORY_FEATURE, type PastReply } from "@edgecall/core/protocol/past.ts";
import { BridgeQuestions } from "../bridge/bridge-questions.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { slot } from "../slot.ts";

/** A year of files takes a tenth of a second here, and more on an SD card. */
const WITHIN_MS = 10_000;

export const devicePastOf = slot(
  (home) => new BridgeQuestions<PastReply>(bridgeOf(home), HISTORY_FEATURE, WITHIN_MS),
);
