import type { Alarm } from "../../../kernel/conversation/alarm.ts";
import type { MediaStore } from "../../../kernel/conversation/store/media.ts";
import type { Tables } from "../../../kernel/conversation/store/tables.ts";
import type { Transcript } from "../../../kernel/conversation/store/transcript.ts";
import type { Env } from "../../../kernel/env.ts";

/** The state that the parts of a chat share with the rest of its conversation. @property name `home/channel/id` */
export type ChatContext = {
  ctx: DurableObjectState;
  env: Env;
  name: string;
  tables: Tables;
  transcript: Transcript;
  media: MediaStore;
  alarm: Alarm;
};
