// Matrix products c[m, n] = sum over k of a[m, k] * b[k, n], and convolutions as such products: a's row is
// then a position of the output, its columns are the window's elements, and both are found in the image as
// they are read (no copy of windows is made).
//
// The prologue (base/gemm.cc) defines operand X, and
//   TRANSPOSE_A, TRANSPOSE_B   the operand is stored as [k, m] or [n, k]
//   WINDOW                     a is an image: 1 a convolution, 2 its gradient for the image
//   EPILOGUE_ARGUMENTS, EPILOGUE(v, row, column)   what happens to each result
//   MR, NR, VECTOR             (products of a CPU) the rows and columns that a work-item computes, and how many
//                              columns are one vector; SHARED_B: all batches have one b; DIRECT_B: b is read
//                              where it is, without panels
//   BM, BN, BK, TM, TN         (products of a GPU) the part of a work-group and of a work-item
//   WHOLE                      float32 without a window; m, n and k are multiples of BM, BN and BK, all steps and
//                              addresses of four elements. AHEAD: whether local memory is read one k ahead

typedef struct {
  int m, n, k;
  int a_step, b_step, c_step;     // elements from one stored row to the next
  int batches_inner;              // a batch's number is split into (outer, inner)
  long a_outer, a_inner, b_outer, b_inner;  // elements from batch to batch
} Product;

// What a convolution reads: an image [n, height, width, step], of whose channels it takes the first
// `channels`; a window of `kernel_width` columns; positions [n, out_height, out_width].
typedef struct {
  int height, width, step, channels;
  int kernel_width, stride_y, stride_x, dilation_y, dilation_x, pad_y, pad_x;
  int out_height, out_width;
} Window;

#if WINDOW
// The row's image, and where its window begins.
typedef struct {
  ulong image;
  int y, x;
} Position;

inline Position PositionOf(int row, const Window w) {
  Position p;
  const int rest = row / w.out_width, x = row - rest * w.out_width;
  const int image = rest / w.out_height, y = rest - image * w.out_height;
  p.image = (ulong)image * w.height * w.width * w.step;
#if WINDOW == 1
  p.y = y * w.stride_y - w.pad_y;
  p.x = x * w.stride_x - w.pad_x;
#else
  p.y = y + w.pad_y;
  p.x = x + w.pad_x;
#endif
  return p;
}

// Where in the image the window's element (ky, kx) of a position is; -1 for padding.
inline long PixelOf(Position p, int ky, int kx, const Window w) {
#if WINDOW == 1
  const int y = p.y + ky * w.dilation_y, x = p.x + kx * w.dilation_x;
  if (y < 0 || y >= w.height || x < 0 || x >= w.width) return -1;
#else
  // The output's gradient: that of the positions whose window holds this pixel.
  const int down = p.y - ky * w.dilation_y, across = p.x - kx * w.dilation_x;
  const int y = down / w.stride_y, x = across / w.stride_x;
  if (down < 0 || across < 0 || y * w.stride_y != down || x * w.stride_x != across ||
      y >= w.height || x >= w.width)
    return -1;
#endif
  return (long)(p.image + ((ulong)y * w.width + x) * w.step);
}
#endif

#define WIDE_(type, n) type##n
#define WIDE(type, n) WIDE_(type, n)

#ifdef BM
// A work-group computes BM x BN results; its work-items share slices of a and b, BK deep, in local memory.
// Each keeps TM x TN results, and loads the next slice while it computes with this one.
#define ITEMS ((BM / TM) * (BN / TN))
#define A_LOADS (BM * BK / ITEMS)
#define B_LOADS (BN * BK / ITEMS)
#define ROW_GROUPS (TM / 4)
#define COLUMN_GROUPS (TN / 4)

// Four elements in one load; the address is a multiple of 16 bytes.
inline void Take4(__local const X_C *from, X_C *to) {
  const WIDE(X_C, 4) v = *(__local const WIDE(X_C, 4) *)from;
  to[0] = v.s0;
  to[1] = v.s1;
  to[2] = v.s2;
  to[3] = v.s3;
}

// What a work-group computes: its part of k, and the first elements of its batch. With SPLIT its results are one of
// SPLIT summands, which gemm_join adds.
typedef struct {
  int k_begin, k_end;
  long a, b, c;
} Part;

inline Part PartOf(const Product p) {
  Part part = {0, p.k, 0, 0, 0};
#ifdef SPLIT
  const int batches = get_num_groups(2) / SPLIT, batch = get_group_id(2) / SPLIT;
  const int summand = get_group_id(2) % SPLIT;
  const int depth = ((p.k + BK - 1) / BK + SPLIT - 1) / SPLIT * BK;
  part.k_begin = summand * depth;
  part.k_end = min(part.k_begin + depth, p.k);
  part.c = (long)summand * batches * p.m * p.c_step;
#else
  const int batch = get_group_id(2);
#endif
  const long outer = batch / p.batches_inner, inner = batch % p.batches_inner;
  part.a = outer * p.a_outer + inner * p.a_inner;
  part.b = outer * p.b_outer + inner * p.b_inner;
  part.c += (long)batch * p.m * p.c_step;
  return part;
}

// The results of an item: groups of four rows and columns, each group of a thread beside those of its neighbours.
#define ROW_OF(i) ((i) / 4 * (BM / ROW_GROUPS) + item_row + (i) % 4)
#define COLUMN_OF(j) ((j) / 4 * (BN / COLUMN_GROUPS) + item_column + (j) % 4)

#ifdef WHOLE
#define A_WIDTH (BM + 4)
#define B_WIDTH (BN + 4)

// An item's loads of a slice of `size` rows or columns. `along_k`: the elements of a row lie side by side.
inline long FirstOf(int size, bool along_k, int step, int item) {
  return along_k ? (long)(item / (BK / 4)) * step + item % (BK / 4) * 4
                 : (long)(item / (size / 4)) * step + item % (size / 4) * 4;
}
inline long NextOf(int size, bool along_k, int step) {
  return (long)(along_k ? ITEMS / (BK / 4) : ITEMS / (size / 4)) * step;
}
inline void Fetch(__global const float *from, long next, int loads, float4 *to) {
#pragma unroll
  for (int i = 0; i < loads; ++i) to[i] = *(__global const float4 *)(from + i * next);
}
inline void Put(const float4 *from, int loads, int size, bool along_k, int item,
                __local float *slice) {
  const int width = size + 4;
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const int at = item + i * ITEMS;
    if (along_k) {
      __local float *const to = slice + at % (BK / 4) * 4 * width + at / (BK / 4);
      to[0] = from[i].x;
      to[width] = from[i].y;
      to[2 * width] = from[i].z;
      to[3 * width] = from[i].w;
    } else {
      *(__local float4 *)(slice + at / (size / 4) * width + at % (size / 4) * 4) = from[i];
    }
  }
}

// What an item multiplies for one k.
inline void TakeSides(__local const float *a, __local const float *b, float *left, float *right) {
#pragma unroll
  for (int g = 0; g < ROW_GROUPS; ++g) Take4(a + g * (BM / ROW_GROUPS), left + g * 4);
#pragma unroll
  for (int g = 0; g < COLUMN_GROUPS; ++g) Take4(b + g * (BN / COLUMN_GROUPS), right + g * 4);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gemm_whole(
    TENSOR(const X_S, a), TENSOR(const X_S, b), TENSOR(X_S, c), const Product p EPILOGUE_ARGUMENTS) {
  __local float __attribute__((aligned(16))) slice_a[2][BK * A_WIDTH];
  __local float __attribute__((aligned(16))) slice_b[2][BK * B_WIDTH];
  OPEN(a);
  OPEN(b);
  OPEN(c);
  EPILOGUE_OPEN
  const int item = get_local_id(0);
  const int row0 = get_group_id(1) * BM, column0 = get_group_id(0) * BN;
  const int item_row = item / (BN / TN) * 4, item_column = item % (BN / TN) * 4;
  const Part part = PartOf(p);
  const int k_begin = part.k_begin, k_end = part.k_end;
  a += part.a;
  b += part.b;
  c += part.c;

  const long a_k = TRANSPOSE_A ? p.a_step : 1, b_k = TRANSPOSE_B ? 1 : p.b_step;
  a += k_begin * a_k + (long)row0 * (TRANSPOSE_A ? 1 : p.a_step) +
       FirstOf(BM, !TRANSPOSE_A, p.a_step, item);
  b += k_begin * b_k + (long)column0 * (TRANSPOSE_B ? p.b_step : 1) +
       FirstOf(BN, TRANSPOSE_B, p.b_step, item);
  const long a_next = NextOf(BM, !TRANSPOSE_A, p.a_step);
  const long b_next = NextOf(BN, TRANSPOSE_B, p.b_step);

  X_C sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] = 0;
  float4 next_a[A_LOADS / 4], next_b[B_LOADS / 4];
  if (k_begin < k_end) {
    Fetch(a, a_next, A_LOADS / 4, next_a);
    Fetch(b, b_next, B_LOADS / 4, next_b);
    Put(next_a, A_LOADS / 4, BM, !TRANSPOSE_A, item, slice_a[0]);
    Put(next_b, B_LOADS / 4, BN, TRANSPOSE_B, item, slice_b[0]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k0 = k_begin, side = 0; k0 < k_end; k0 += BK, side ^= 1) {
    const bool more = k0 + BK < k_end;
    if (more) {
      a += BK * a_k;
      b += BK * b_k;
      Fetch(a, a_next, A_LOADS / 4, next_a);
      Fetch(b, b_next, B_LOADS / 4, next_b);
    }
    __local const float *const from_a = slice_a[side] + item_row;
    __local const float *const from_b = slice_b[side] + item_column;
    float left[1 + AHEAD][TM], right[1 + AHEAD][TN];
    if (AHEAD) TakeSides(from_a, from_b, left[0], right[0]);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      const int now = AHEAD ? k % 2 : 0, read = k + AHEAD;
      if (read < BK)
        TakeSides(from_a + read * A_WIDTH, from_b + read * B_WIDTH, left[AHEAD ? 1 - now : 0],
                  right[AHEAD ? 1 - now : 0]);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] = fma(left[now][i], right[now][j], sum[i][j]);
    }
    if (more) {
      Put(next_a, A_LOADS / 4, BM, !TRANSPOSE_A, item, slice_a[side ^ 1]);
      Put(next_b, B_LOADS / 4, BN, TRANSPOSE_B, item, slice_b[side ^ 1]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = row0 + ROW_OF(i);
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int column = column0 + COLUMN_OF(j);
      X_C v = sum[i][j];
      const ulong at = (ulong)row * p.c_step + column;
      EPILOGUE
      X_PUT(c, at, v);
    }
  }
}
#else
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gemm_tiles(
    TENSOR(const X_S, a), TENSOR(const X_S, b), TENSOR(X_S, c), const Product p, const Window w
    EPILOGUE_ARGUMENTS) {
  __local X_C __attribute__((aligned(16))) slice_a[2][BK][BM + 4];
  __local X_C __attribute__((aligned(16))) slice_b[2][BK][BN + 4];
  OPEN(a);
  OPEN(b);
  OPEN(c);
  EPILOGUE_OPEN
  const int item = get_local_id(0);
  const Part part = PartOf(p);
  const int k_begin = part.k_begin, k_end = part.k_end;
  a += part.a;
  b += part.b;
  c += part.c;
  const int row0 = get_group_id(1) * BM, column0 = get_group_id(0) * BN;
  const int item_row = item / (BN / TN) * 4, item_column = item % (BN / TN) * 4;

  // What this item loads: of a, column k of the slice and rows a_row, a_row + A_ROWS, ...
#if TRANSPOSE_A
  const int a_row = item % BM, a_k = item / BM;
#define A_ROW(i) (a_row)
#define A_K(i) (a_k + (i) * (ITEMS / BM))
#else
  const int a_row = item / BK, a_k = item % BK;
#define A_ROW(i) (a_row + (i) * (ITEMS / BK))
#define A_K(i) (a_k)
#endif
#if TRANSPOSE_B
  const int b_column = item / BK, b_k = item % BK;
#define B_COLUMN(i) (b_column + (i) * (ITEMS / BK))
#define B_K(i) (b_k)
#else
  const int b_column = item % BN, b_k = item / BN;
#define B_COLUMN(i) (b_column)
#define B_K(i) (b_k + (i) * (ITEMS / BN))
#endif
#if WINDOW
  Position position[A_LOADS];
#pragma unroll
  for (int i = 0; i < A_LOADS; ++i) position[i] = PositionOf(min(row0 + A_ROW(i), p.m - 1), w);
#endif

  X_C sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] = 0;

  X_C next_a[A_LOADS], next_b[B_LOADS];
  for (int k0 = k_begin - BK, side = 1; k0 < k_end; k0 += BK, side ^= 1) {
    const int load = k0 + BK;  // the slice to load now
    if (load < k_end) {
#if WINDOW
      const int ka = load + a_k;
      const int tap = ka / w.channels, channel = ka - tap * w.channels;
      const int ky = tap / w.kernel_width, kx = tap - ky * w.kernel_width;
#pragma unroll
      for (int i = 0; i < A_LOADS; ++i) {
        const long at = ka < p.k && row0 + A_ROW(i) < p.m ? PixelOf(position[i], ky, kx, w) : -1;
        next_a[i] = at < 0 ? 0 : X_GET(a, at + channel);
      }
#else
#pragma unroll
      for (int i = 0; i < A_LOADS; ++i) {
        const int row = row0 + A_ROW(i), k = load + A_K(i);
        const bool inside = row < p.m && k < p.k;
#if TRANSPOSE_A
        next_a[i] = inside ? X_GET(a, (long)k * p.a_step + row) : 0;
#else
        next_a[i] = inside ? X_GET(a, (long)row * p.a_step + k) : 0;
#endif
      }
#endif
#pragma unroll
      for (int i = 0; i < B_LOADS; ++i) {
        const int column = column0 + B_COLUMN(i), k = load + B_K(i);
        const bool inside = column < p.n && k < p.k;
#if TRANSPOSE_B
        next_b[i] = inside ? X_GET(b, (long)column * p.b_step + k) : 0;
#else
        next_b[i] = inside ? X_GET(b, (long)k * p.b_step + column) : 0;
#endif
      }
    }
    if (k0 >= k_begin) {
#pragma unroll
      for (int k = 0; k < BK; ++k) {
        X_C left[TM], right[TN];
#pragma unroll
        for (int g = 0; g < ROW_GROUPS; ++g)
          Take4(&slice_a[side][k][g * (BM / ROW_GROUPS) + item_row], left + g * 4);
#pragma unroll
        for (int g = 0; g < COLUMN_GROUPS; ++g)
          Take4(&slice_b[side][k][g * (BN / COLUMN_GROUPS) + item_column], right + g * 4);
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
          for (int j = 0; j < TN; ++j) sum[i][j] = fma(left[i], right[j], sum[i][j]);
      }
    }
    if (load < k_end) {
#pragma unroll
      for (int i = 0; i < A_LOADS; ++i) slice_a[side ^ 1][A_K(i)][A_ROW(i)] = next_a[i];
#pragma unroll
      for (int i = 0; i < B_LOADS; ++i) slice_b[side ^ 1][B_K(i)][B_COLUMN(i)] = next_b[i];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = row0 + ROW_OF(i);
    if (row >= p.m) continue;
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int column = column0 + COLUMN_OF(j);
      if (column >= p.n) continue;
      X_C v = sum[i][j];
      const ulong at = (ulong)row * p.c_step + column;
      EPILOGUE
      X_PUT(c, at, v);
    }
  }
}
#endif
#endif

#ifdef JOIN
// The sum of SPLIT products, and what follows them.
__kernel void gemm_join(TENSOR(const X_S, parts), TENSOR(X_S, c), const ulong count,
                        const uint columns EPILOGUE_ARGUMENTS) {
  OPEN(parts);
  OPEN(c);
  EPILOGUE_OPEN
  const ulong at = get_global_id(0);
  if (at >= count) return;
  const uint row = at / columns, column = at % columns;
  X_C v = 0;
#pragma unroll 4
  for (int part = 0; part < SPLIT; ++part) v += X_GET(parts, part * count + at);
  EPILOGUE
  X_PUT(c, at, v);
}
#endif

#ifdef MR
#ifndef DIRECT_B
// Panels of b: [batch][n / NR][k][NR], padded with zeros, so that a work-item reads it in order.
__kernel void pack_b(TENSOR(const X_S, b), TENSOR(X_C, panels), const Product p) {
  OPEN(b);
  OPEN(panels);
  const int panel = get_global_id(1), batch = get_global_id(2);
  const int wide = get_num_groups(1);
  const int k0 = get_group_id(0) * 64, k1 = min(k0 + 64, p.k);
  b += (batch / p.batches_inner) * p.b_outer + (batch % p.batches_inner) * p.b_inner;
  panels += ((ulong)batch * wide + panel) * p.k * NR;
  const int column0 = panel * NR, columns = min(NR, p.n - column0);
  for (int k = k0; k < k1; ++k) {
    __global X_C *row = panels + (ulong)k * NR;
#if TRANSPOSE_B
    for (int j = 0; j < columns; ++j) row[j] = X_GET(b, (long)(column0 + j) * p.b_step + k);
#else
    for (int j = 0; j < columns; ++j) row[j] = X_GET(b, (long)k * p.b_step + column0 + j);
#endif
    for (int j = columns; j < NR; ++j) row[j] = 0;
  }
}
#endif

#define LOAD_(n, at, p) vload##n(at, p)
#define LOAD(n, at, p) LOAD_(n, at, p)
#define STORE_(n, v, at, p) vstore##n(v, at, p)
#define STORE(n, v, at, p) STORE_(n, v, at, p)
typedef WIDE(X_C, VECTOR) Vector;
#define VECTORS (NR / VECTOR)

// One work-item computes MR x NR results, which stay in vector registers while it walks over k.
__kernel void gemm_panels(TENSOR(const X_S, a), TENSOR(const X_C, panels), TENSOR(X_S, c),
                          const Product p, const Window w, TENSOR(const X_S, zeros)
                          EPILOGUE_ARGUMENTS) {
  OPEN(a);
  OPEN(panels);
  OPEN(c);
  OPEN(zeros);
  EPILOGUE_OPEN
  const int block = get_group_id(0), panel = get_group_id(1), batch = get_group_id(2);
  const int wide = (p.n + NR - 1) / NR;
  {
    const long outer = batch / p.batches_inner, inner = batch % p.batches_inner;
    a += outer * p.a_outer + inner * p.a_inner;
    c += (ulong)batch * p.m * p.c_step;
#ifdef DIRECT_B
    panels += outer * p.b_outer + inner * p.b_inner + panel * NR;
#elif defined SHARED_B
    panels += (ulong)panel * p.k * NR;
#else
    panels += ((ulong)batch * wide + panel) * p.k * NR;
#endif
  }
  const int row0 = block * MR;
  Vector sum[MR][VECTORS];
#pragma unroll
  for (int i = 0; i < MR; ++i)
#pragma unroll
    for (int j = 0; j < VECTORS; ++j) sum[i][j] = 0;
  __global const X_S *from[MR];
#if WINDOW
  Position position[MR];
  for (int i = 0; i < MR; ++i) position[i] = PositionOf(min(row0 + i, p.m - 1), w);
  const int taps = p.k / w.channels, depth = w.channels;
#else
  for (int i = 0; i < MR; ++i) from[i] = a + (long)min(row0 + i, p.m - 1) * p.a_step;
  const int taps = 1, depth = p.k;
#endif
  for (int tap = 0; tap < taps; ++tap) {
#if WINDOW
    const int ky = tap / w.kernel_width, kx = tap - ky * w.kernel_width;
    for (int i = 0; i < MR; ++i) {
      const long at = PixelOf(position[i], ky, kx, w);
      from[i] = at < 0 ? zeros : a + at;
    }
#endif
    for (int k = 0; k < depth; ++k) {
      Vector right[VECTORS];
#pragma unroll
      for (int j = 0; j < VECTORS; ++j) right[j] = LOAD(VECTOR, j, panels);
#ifdef DIRECT_B
      panels += p.b_step;
#else
      panels += NR;
#endif
#pragma unroll
      for (int i = 0; i < MR; ++i) {
        const Vector left = (Vector)X_GET(from[i], k);
#pragma unroll
        for (int j = 0; j < VECTORS; ++j) sum[i][j] = fma(left, right[j], sum[i][j]);
      }
    }
  }
  X_C results[MR][NR];
#pragma unroll
  for (int i = 0; i < MR; ++i)
#pragma unroll
    for (int j = 0; j < VECTORS; ++j) STORE(VECTOR, sum[i][j], j, results[i]);
  const int columns = min(NR, p.n - panel * NR);
  for (int i = 0; i < MR && row0 + i < p.m; ++i) {
    const int row = row0 + i;
    for (int j = 0; j < columns; ++j) {
      const int column = panel * NR + j;
      X_C v = results[i][j];
      const ulong at = (ulong)row * p.c_step + column;
      EPILOGUE
      X_PUT(c, at, v);
    }
  }
}
#endif

#ifdef PLAIN
// Any type, one result for each work-item. Integers wrap.
__kernel void gemm_plain(TENSOR(const X_S, a), TENSOR(const X_S, b), TENSOR(X_S, c), const Product p) {
  OPEN(a);
  OPEN(b);
  OPEN(c);
  const int column = get_global_id(0), row = get_global_id(1), batch = get_global_id(2);
  if (column >= p.n) return;
  a += (batch / p.batches_inner) * p.a_outer + (batch % p.batches_inner) * p.a_inner;
  b += (batch / p.batches_inner) * p.b_outer + (batch % p.batches_inner) * p.b_inner;
  c += (ulong)batch * p.m * p.c_step;
  X_U sum = 0;
  for (int k = 0; k < p.k; ++k) {
    const long at_a = TRANSPOSE_A ? (long)k * p.a_step + row : (long)row * p.a_step + k;
    const long at_b = TRANSPOSE_B ? (long)column * p.b_step + k : (long)k * p.b_step + column;
    sum += (X_U)X_GET(a, at_a) * (X_U)X_GET(b, at_b);
  }
  X_PUT(c, (ulong)row * p.c_step + column, (X_C)sum);
}
#endif
