/** Loads the script of a screen when the screen is opened, and that of a part of one. */
import type { SessionView } from "@edgecall/client/routes.ts";
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { errorText } from "./api.ts";
import { Problem, Screen, Skeleton } from "./load.tsx";
import { say, type TextKey } from "./texts/say.ts";

export type ScreenProps = { session: SessionView; item: string | undefined };
type Load<P> = () => Promise<ComponentType<P>>;

/** @param load imports the screen's file, which is a script of its own then */
export function lazy(title: TextKey, load: Load<ScreenProps>): ComponentType<ScreenProps> {
  return lazyPart(load, (shown) => <Screen title={say(title)}>{shown}</Screen>);
}

/** @param within what stands around the sign that it is being loaded */
export function lazyPart<P extends object>(
  load: Load<P>,
  within: (shown: JSX.Element) => JSX.Element = (shown) => shown,
): ComponentType<P> {
  return function Lazy(props: P) {
    const [Shown, setShown] = useState<ComponentType<P>>();
    const [problem, setProblem] = useState<string>();
    useEffect(() => {
      load().then(
        (screen) => setShown(() => screen),
        (error: unknown) => setProblem(say("loadAgain", { why: errorText(error) })),
      );
    }, []);
    if (Shown) return <Shown {...props} />;
    return within(problem ? <Problem text={problem} /> : <Skeleton lines={6} />);
  };
}
