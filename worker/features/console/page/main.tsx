/** The console: the session and its screens. The address's hash names the screen. */
import { ResponseError } from "@edgecall/client/client.ts";
import type { SessionView } from "@edgecall/client/routes.ts";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { client, confirmBy, errorText } from "./api.ts";
import { Frame } from "./frame.tsx";
import { readSignIn } from "./home-assistant-sign-in.ts";
import { Problem } from "./load.tsx";
import { usePlace } from "./place.ts";
import { SignIn } from "./sign-in.tsx";
import { loadLanguage } from "./texts/load-language.ts";

function App() {
  const [session, setSession] = useState<SessionView>();
  const [error, setError] = useState<unknown>();
  const place = usePlace();
  useEffect(() => {
    client.json("GET /v1/console/session").then(setSession, setError);
  }, []);
  if (!session)
    return (
      <main class="sign-in">
        <Problem text={error === undefined ? undefined : errorText(error)} />
        {error instanceof ResponseError && error.code === "not_configured" && (
          <p>
            A new gateway? <a href="/tokens">Make its tokens</a>.
          </p>
        )}
      </main>
    );
  if (!session.signed_in) return <SignIn access={session.access} onSession={setSession} />;
  return <Frame session={session} place={place} />;
}

// A pressed notification names a place.
navigator.serviceWorker?.addEventListener("message", ({ data }: MessageEvent<{ place: string }>) => {
  location.hash = data.place.slice(1);
});

// Its script is loaded when it is needed.
confirmBy(async ({ code }, request) =>
  code === "needs_passkey" ? await (await import("./confirm.ts")).confirm(request) : undefined,
);

readSignIn();
const root = document.getElementById("root");
if (root) {
  await loadLanguage();
  root.replaceChildren();
  render(<App />, root);
}
