/** Signing in with a token, or with what Cloudflare Access knows already. */
import { useEffect, useState } from "preact/hooks";
import { json, wordsOf } from "./api.ts";
import { Problem } from "./load.tsx";
import type { Session } from "./shapes.ts";

export function SignIn({ access, onSession }: { access: boolean; onSession: (session: Session) => void }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();

  async function enter(body: { token?: string }) {
    try {
      onSession(await json<Session>("/v1/console/session", { method: "POST", body }));
    } catch (error) {
      setProblem(wordsOf(error));
    }
  }
  useEffect(() => {
    if (access) void enter({});
  }, [access]);

  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter({ token: token.trim() });
        }}
      >
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>edgecall</h1>
        <p class="quiet">Ask your devices from anywhere. Sign in with an API token; npm start prints one.</p>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          required
          minLength={16}
          autocomplete="current-password"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <Problem text={problem} />
        <button type="submit" class="main">
          Sign in
        </button>
      </form>
    </main>
  );
}
