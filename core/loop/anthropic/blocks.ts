/** The parts of Anthropic's Messages API that the client uses (https://platform.claude.com/docs/en/api/messages). The tests compare them with the SDK's types. */

export type CacheMark = { type: "ephemeral" };

type Marked = { cache_control?: CacheMark };
export type TextBlock = Marked & { type: "text"; text: string };
type ImageBlock = Marked & {
  type: "image";
  source: { type: "base64"; media_type: PictureType; data: string } | { type: "url"; url: string };
};
type ToolUseBlock = Marked & { type: "tool_use"; id: string; name: string; input: Record<string, unknown> };
type ToolResultBlock = Marked & {
  type: "tool_result";
  tool_use_id: string;
  content: string;
  is_error?: true;
};
/** A thought with its signature. It goes back as it came, since the API checks it. */
export type ThoughtBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string };

export type UserBlock = TextBlock | ImageBlock | ToolResultBlock;
export type AssistantBlock = TextBlock | ToolUseBlock | ThoughtBlock;

export type Message =
  | { role: "user"; content: UserBlock[] }
  | { role: "assistant"; content: AssistantBlock[] };

export type Tool = Marked & {
  name: string;
  description?: string;
  input_schema: Record<string, unknown> & { type: "object" };
};

export type ToolChoice = { type: "auto" | "any" | "none" } | { type: "tool"; name: string };

export const PICTURE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
type PictureType = (typeof PICTURE_TYPES)[number];

export type Body = {
  model: string;
  max_tokens: number;
  stream: boolean;
  tools?: Tool[];
  system?: TextBlock[];
  messages: Message[];
  tool_choice?: ToolChoice;
  /** Only older models take it (https://platform.claude.com/docs/en/api/messages). */
  temperature?: number;
  thinking?: { type: "disabled" };
};
