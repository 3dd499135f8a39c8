declare namespace Cloudflare {
  interface Env {
    HOME: DurableObjectNamespace<import("../worker/kernel/home/home.ts").Home>;
    CONVERSATION: DurableObjectNamespace<import("../worker/kernel/conversation/conversation.ts").Conversation>;
    LLM_BASE_URL: string;
  }
}
