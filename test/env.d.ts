declare namespace Cloudflare {
  interface Env {
    HOME: DurableObjectNamespace<import("../worker/home.ts").Home>;
    CONVERSATION: DurableObjectNamespace<import("../worker/conversation.ts").Conversation>;
    LLM_BASE_URL: string;
  }
}
