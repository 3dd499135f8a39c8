/** A rule that acts, as the API gives it. */
import type { AnswerOf } from "@edgecall/client/client.ts";

export type Automation = AnswerOf<"GET /v1/automations">["automations"][number];
