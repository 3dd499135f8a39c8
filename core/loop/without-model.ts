/** Stands in the place of a model's name for answers that need none. */
export const WITHOUT_MODEL = "edgecall";
