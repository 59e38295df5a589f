// Values sent to places of a tensor. The prologue (base/scatter.cc) defines
//   L              the indices, in `locate`, with DEPTH, their coordinates
//   X              elements and values, in the scatters, with
//   COMBINE(a, b)  what becomes of an element `a` to which a value `b` is sent
//   ROUND          rounds `a`, of the computed type, to the type itself
//   CHECK          values of 0 are reported
// First `locate` finds the piece of the target that each point stands for, -1 for none; then a
// scatter sends the values there, those of one place in the order of the points.

#ifdef L_S
typedef struct {
  long of[DEPTH];
} Sizes;

// A point is in the part of the target that belongs to its batch. Points outside are left out;
// which of them are reported, `report` says: 0 none, 1 all, 2 those that are not negative, 3 those
// that are.
__kernel void locate(TENSOR(const L_S, indices), TENSOR(long, places), const ulong count,
                     const uint depth, const Sizes sizes, const ulong points_of_batch,
                     const ulong pieces_of_batch, const int report, __global int *errors,
                     const int number) {
  OPEN(indices);
  OPEN(places);
  const ulong i = get_global_id(0);
  if (i >= count) return;
  long place = 0, wrong = 0;
  bool inside = true;
  for (uint d = 0; d < depth; ++d) {
    const long at = L_GET(indices, i * depth + d);
    if (at < 0 || at >= sizes.of[d]) {
      inside = false;
      wrong = at;
    }
    place = place * sizes.of[d] + at;
  }
  if (!inside && (report == 1 || (report == 2 && wrong >= 0) || (report == 3 && wrong < 0)))
    Report(errors, number, (long)i);
  places[i] = inside ? (long)(i / points_of_batch * pieces_of_batch) + place : -1;
}

// Keys that bring the points of one place together, in their order; those of no place come last.
__kernel void place_keys(TENSOR(const long, places), TENSOR(ulong, keys), const ulong count,
                         const ulong points) {
  OPEN(places);
  OPEN(keys);
  const ulong i = get_global_id(0);
  if (i >= count) return;
  keys[i] = i < points && places[i] >= 0 ? (ulong)places[i] << 32 | i : ULONG_MAX;
}
#endif

#ifdef X_S
#define C X_C
#define U X_U
#ifdef CHECK
#define VALUE(at) Checked(X_GET(values, at), errors, number)
inline X_C Checked(X_C value, __global int *errors, int number) {
  if (value == 0) Report(errors, number, 0);
  return value;
}
#else
#define VALUE(at) X_GET(values, at)
#endif

// A work-item for each element of a piece. Point i has the values from i * point_step on, one each
// value_step.
__kernel void scatter_in_order(TENSOR(X_S, target), TENSOR(const X_S, values),
                               TENSOR(const long, places), const ulong points, const ulong piece,
                               const ulong point_step, const uint value_step, __global int *errors,
                               const int number) {
  OPEN(target);
  OPEN(values);
  OPEN(places);
  const ulong column = get_global_id(0);
  if (column >= piece) return;
  for (ulong i = 0; i < points; ++i) {
    if (places[i] < 0) continue;
    const ulong to = places[i] * piece + column;
    const X_C a = X_GET(target, to), b = VALUE(i * point_step + column * value_step);
    X_PUT(target, to, COMBINE(a, b));
  }
}

// A work-item for each sorted key and element of a piece. That of a place's first key sends all
// values.
__kernel void scatter_sorted(TENSOR(X_S, target), TENSOR(const X_S, values),
                             TENSOR(const ulong, keys), const ulong points, const ulong piece,
                             const ulong point_step, const uint value_step, __global int *errors,
                             const int number) {
  OPEN(target);
  OPEN(values);
  OPEN(keys);
  const ulong at = get_global_id(0);
  if (at >= points * piece) return;
  const ulong column = at % piece;
  ulong k = at / piece;
  const ulong place = keys[k] >> 32;
  if (keys[k] == ULONG_MAX || (k > 0 && keys[k - 1] >> 32 == place)) return;
  const ulong to = place * piece + column;
  X_C a = X_GET(target, to);
  for (; k < points && keys[k] != ULONG_MAX && keys[k] >> 32 == place; ++k) {
    const X_C b = VALUE((keys[k] & UINT_MAX) * point_step + column * value_step);
    a = COMBINE(a, b);
    ROUND
  }
  X_PUT(target, to, a);
}
#endif
