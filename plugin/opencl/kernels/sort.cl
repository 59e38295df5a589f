// Sorts rows of keys of 64 bits, a power of two in each row, in the order of their numbers. A row's
// keys are compared in pairs at falling distances (a bitonic sort); each work-item has one pair.
// The prologue (base/sort.cc) defines GROUP, the work-items of a group, which reach 2 * GROUP keys.

inline bool IsFalling(uint place, uint run) { return (place & run) != 0; }

// One distance; a work-item for each pair of all rows. `run` keys are being brought into order.
__kernel void sort_distance(TENSOR(ulong, keys), const ulong pairs, const uint row, const uint run,
                            const uint distance) {
  OPEN(keys);
  const ulong pair = get_global_id(0);
  if (pair >= pairs) return;
  const ulong at = pair / distance * 2 * distance + pair % distance;
  const ulong a = keys[at], b = keys[at + distance];
  if ((a > b) == IsFalling(at & (row - 1), run & (row - 1))) return;
  keys[at] = b;
  keys[at + distance] = a;
}

// All distances below 2 * GROUP, of the runs from `run` to `last`, in local memory.
__kernel void sort_near(TENSOR(ulong, keys), const ulong count, const uint row, const uint run,
                        const uint last) {
  __local ulong near[2 * GROUP];
  OPEN(keys);
  const uint item = get_local_id(0);
  const ulong begin = get_group_id(0) * 2 * GROUP;
  for (uint i = item; i < 2 * GROUP; i += GROUP) near[i] = begin + i < count ? keys[begin + i] : 0;
  for (ulong length = run; length <= last; length *= 2) {
    for (uint distance = min((uint)length / 2, (uint)GROUP); distance > 0; distance /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint at = item / distance * 2 * distance + item % distance;
      const ulong a = near[at], b = near[at + distance];
      const bool falls = IsFalling((uint)(begin + at) & (row - 1), (uint)length & (row - 1));
      if ((a > b) != falls) {
        near[at] = b;
        near[at + distance] = a;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = item; i < 2 * GROUP; i += GROUP)
    if (begin + i < count) keys[begin + i] = near[i];
}
