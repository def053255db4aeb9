// When a stage bound a run: one place decides it for a job's result, the report and the timeline's page.

/** A busiest stage below this share of the wall time did not bind: the stages waited on each other. */
export const bindsFrom = 0.5;
