/** A Worker that has the home as a binding: `GET /freezer` says how cold the freezer is, and nothing else can be asked. */
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/freezer") return new Response("not found", { status: 404 });
    // The host does not matter over a binding.
    const asked = await env.HOME.fetch("https://home/v1/conversations/home-page/messages", {
      method: "POST",
      headers: { authorization: `Bearer ${env.EDGECALL_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "How cold is the freezer?" }),
    });
    const turn = asked.ok ? await asked.json() : { status: "failed" };
    if (turn.status !== "done") return new Response("the home gave no answer", { status: 502 });
    return new Response(turn.answer, { headers: { "cache-control": "max-age=60" } });
  },
};
