/** Counts the turns of the event loop until it is stopped: work that only awaits what does not wait gives it none. */
export function countLoopTurns(): { readonly turns: () => number; readonly stop: () => void } {
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  return { turns: () => turns, stop: () => clearImmediate(next) };
}
