// Moves elements of any type: out[position] = in[position], over a loop in which both sides have strides of
// their own. The prologue (base/strided.cc) defines E, an unsigned integer of the element's size, and
// RANK; NUMBER and LENGTH are int and uint, or long and ulong where positions need it.

typedef struct {
  LENGTH dims[RANK];
  NUMBER in[RANK], out[RANK];
} Loop;

__kernel void strided_copy(TENSOR(const E, in), TENSOR(E, out), const LENGTH count, const Loop loop) {
  OPEN(in);
  OPEN(out);
#ifdef ROWS
  const LENGTH column = get_global_id(0);
  LENGTH rest = get_global_id(1);
  if (column >= loop.dims[RANK - 1]) return;
#else
  const LENGTH i = get_global_id(0);
  if (i >= count) return;
  LENGTH rest = i / loop.dims[RANK - 1];
  const LENGTH column = i - rest * loop.dims[RANK - 1];
#endif
  NUMBER from = (NUMBER)column * loop.in[RANK - 1];
  NUMBER to = (NUMBER)column * loop.out[RANK - 1];
#pragma unroll
  for (int d = RANK - 2; d >= 0; --d) {
    const LENGTH next = rest / loop.dims[d];
    const NUMBER c = (NUMBER)(rest - next * loop.dims[d]);
    rest = next;
    from += c * loop.in[d];
    to += c * loop.out[d];
  }
  out[to] = in[from];
}

#ifdef TILE
// Transposes matrices: [batch, rows, columns] becomes [batch, columns, rows], by tiles in local memory so that
// both sides are read and written in order.
__kernel void transpose(TENSOR(const E, in), TENSOR(E, out), const uint rows, const uint columns) {
  __local E tile[TILE][TILE + 1];
  OPEN(in);
  OPEN(out);
  const ulong matrix = (ulong)get_global_id(2) * rows * columns;
  const int x = get_local_id(0), y = get_local_id(1);
  const uint column = get_group_id(0) * TILE, row = get_group_id(1) * TILE;
  for (int k = y; k < TILE; k += TILE / 4)
    if (row + k < rows && column + x < columns)
      tile[k][x] = in[matrix + (ulong)(row + k) * columns + column + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = y; k < TILE; k += TILE / 4)
    if (column + k < columns && row + x < rows)
      out[matrix + (ulong)(column + k) * rows + row + x] = tile[x][k];
}
#endif
