// When statistics are due.

/** The first of epoch, epoch + interval, epoch + 2·interval… that lies after `now`; all in milliseconds. */
export function nextReport(epoch: number, interval: number, now: number): number {
  return now < epoch ? epoch : epoch + (Math.floor((now - epoch) / interval) + 1) * interval;
}
