/** Waits until `condition` gives something true, and gives that back; throws naming `what` when time is up. */
export async function until(condition, options = {}) {
    const { within = 5000, every = 10, what = condition.toString() } = options;
    const end = performance.now() + within;
    for (;;) {
        const value = await condition();
        if (value)
            return value;
        if (performance.now() > end)
            throw new Error(`not within ${within} ms: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, every));
    }
}
