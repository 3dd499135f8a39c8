import type { Env } from "../../env.ts";
import type { Alarm } from "../alarm.ts";
import type { MediaStore } from "../store/media.ts";
import type { Tables } from "../store/tables.ts";
import type { Transcript } from "../store/transcript.ts";

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
