// The schedule of the statistics.

/** The first of the times epoch, epoch + interval, epoch + 2·interval… that is after `now`. All times are in milliseconds. */
export function nextReport(epoch: number, interval: number, now: number): number {
  return now < epoch ? epoch : epoch + (Math.floor((now - epoch) / interval) + 1) * interval;
}
