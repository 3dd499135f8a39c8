/** Loads the script of a screen when the screen is opened. */
import type { SessionView } from "@edgecall/client/routes.ts";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { errorText } from "./api.ts";
import { Problem, Screen, Skeleton } from "./load.tsx";
import { say, type TextKey } from "./texts/say.ts";

export type ScreenProps = { session: SessionView; item: string | undefined };

/** @param load imports the screen's file, which is a script of its own then */
export function lazy(
  title: TextKey,
  load: () => Promise<ComponentType<ScreenProps>>,
): ComponentType<ScreenProps> {
  return function Lazy(props: ScreenProps) {
    const [Shown, setShown] = useState<ComponentType<ScreenProps>>();
    const [problem, setProblem] = useState<string>();
    useEffect(() => {
      load().then(
        (screen) => setShown(() => screen),
        (error: unknown) => setProblem(say("loadAgain", { why: errorText(error) })),
      );
    }, []);
    if (Shown) return <Shown {...props} />;
    return (
      <Screen title={say(title)}>{problem ? <Problem text={problem} /> : <Skeleton lines={6} />}</Screen>
    );
  };
}
