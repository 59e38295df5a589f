// softmax(query * key^T * scale + mask) * value. A work-group takes ROWS queries of one head and walks over blocks
// of BLOCK keys. It keeps no scores: with each block a row's maximum may rise, and what the row has summed so far is
// scaled by as much ("online softmax").
//
// The prologue (ops/attention.cc) defines DEPTH (elements of a query and of a key) and WIDTH (of a value), multiples
// of 4; BLOCK, a multiple of LANES; EACH, the rows of a work-item; MASKED.
//
// A work-item has EACH rows, LINES apart, and in them each LANES-th key and each LANES-th four elements of the result.

#define LINES 8
#define LANES 16
#define ROWS (LINES * EACH)
#define KEYS (BLOCK / LANES)                      // of a work-item in a block
#define FOURS ((WIDTH / 4 + LANES - 1) / LANES)   // elements of a work-item in a row of the result, by four

// ops/attention.cc, AttentionNumbers. Elements from one batch, head and row to the next.
typedef struct {
  long batch, head, row;
} Steps;
typedef struct {
  Steps query, key, value, mask, out;
  long mask_key;
  int heads, rows, keys;
  float scale;
} Attention;

inline float Larger(float a, float b) { return a != a || a > b ? a : b; }

// `count` rows of `fours` times four elements, from row `first` on, for all work-items of the group. Rows from `end`
// on are zeros.
inline void LoadRows(__global const float *from, long step, int first, int end, int count, int fours,
                     int stride, __local float4 *to) {
  for (int i = get_local_id(0); i < count * fours; i += LINES * LANES) {
    const int row = i / fours, column = i - row * fours;
    const bool inside = first + row < end;
    to[row * stride + column] =
        inside ? *(__global const float4 *)(from + (first + row) * step + column * 4) : (float4)(0);
  }
}

__kernel __attribute__((reqd_work_group_size(LINES *LANES, 1, 1))) void attention(
    TENSOR(const float, query), TENSOR(const float, key), TENSOR(const float, value),
#ifdef MASKED
    TENSOR(const float, mask),
#endif
    TENSOR(float, out), const Attention p) {
  // Neighbours read neighbouring rows at one column: an odd number of fours brings these into different banks.
  __local float4 queries[ROWS][DEPTH / 4 + 1], keys[BLOCK][DEPTH / 4 + 1], values[BLOCK][WIDTH / 4];
  __local float4 weights[ROWS][BLOCK / 4 + 1];
  __local float parts[ROWS][LANES];
  const int lane = get_local_id(0) % LANES, line = get_local_id(0) / LANES;
  const int row0 = get_group_id(0) * ROWS;
  const int head = get_group_id(1) % p.heads, batch = get_group_id(1) / p.heads;
  OPEN(query);
  OPEN(key);
  OPEN(value);
  OPEN(out);
  query += batch * p.query.batch + head * p.query.head;
  key += batch * p.key.batch + head * p.key.head;
  value += batch * p.value.batch + head * p.value.head;
  out += batch * p.out.batch + head * p.out.head;
#ifdef MASKED
  OPEN(mask);
  mask += batch * p.mask.batch + head * p.mask.head;
#endif

  float most[EACH], total[EACH];
  float4 result[EACH][FOURS];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    most[i] = -INFINITY;
    total[i] = 0;
#pragma unroll
    for (int c = 0; c < FOURS; ++c) result[i][c] = 0;
  }
  LoadRows(query, p.query.row, row0, p.rows, ROWS, DEPTH / 4, DEPTH / 4 + 1, queries[0]);
  for (int key0 = 0; key0 < p.keys; key0 += BLOCK) {
    LoadRows(key, p.key.row, key0, p.keys, BLOCK, DEPTH / 4, DEPTH / 4 + 1, keys[0]);
    LoadRows(value, p.value.row, key0, p.keys, BLOCK, WIDTH / 4, WIDTH / 4, values[0]);
    barrier(CLK_LOCAL_MEM_FENCE);

    float score[EACH][KEYS];
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
      for (int j = 0; j < KEYS; ++j) score[i][j] = 0;
#pragma unroll 8
    for (int d = 0; d < DEPTH / 4; ++d) {
      float4 q[EACH];
#pragma unroll
      for (int i = 0; i < EACH; ++i) q[i] = queries[line + i * LINES][d];
#pragma unroll
      for (int j = 0; j < KEYS; ++j) {
        const float4 k = keys[lane + j * LANES][d];
#pragma unroll
        for (int i = 0; i < EACH; ++i)
          score[i][j] = fma(q[i].w, k.w,
                            fma(q[i].z, k.z, fma(q[i].y, k.y, fma(q[i].x, k.x, score[i][j]))));
      }
    }

    // The maximum of each row so far.
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      float largest = -INFINITY;
#pragma unroll
      for (int j = 0; j < KEYS; ++j) {
        const int column = key0 + lane + j * LANES;
        float s = score[i][j] * p.scale;
#ifdef MASKED
        const int row = min(row0 + line + i * LINES, p.rows - 1);
        s += mask[row * p.mask.row + min(column, p.keys - 1) * p.mask_key];
#endif
        score[i][j] = column < p.keys ? s : -INFINITY;
        largest = Larger(score[i][j], largest);
      }
      parts[line + i * LINES][lane] = largest;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Scores become weights. A score of -infinity has none, also where it is the maximum: what a row of such scores
    // alone divides is 0 by 0, a NaN as softmax has it.
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      const int row = line + i * LINES;
      float largest = most[i];
#pragma unroll
      for (int l = 0; l < LANES; ++l) largest = Larger(parts[row][l], largest);
      const float shrink = most[i] == largest ? 1 : exp(most[i] - largest);
      most[i] = largest;
      total[i] *= shrink;
#pragma unroll
      for (int c = 0; c < FOURS; ++c) result[i][c] *= shrink;
#pragma unroll
      for (int j = 0; j < KEYS; ++j) {
        const float w = score[i][j] == -INFINITY ? 0 : exp(score[i][j] - largest);
        ((__local float *)weights[row])[lane + j * LANES] = w;
        total[i] += w;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll 4
    for (int k = 0; k < BLOCK / 4; ++k) {
      float4 w[EACH];
#pragma unroll
      for (int i = 0; i < EACH; ++i) w[i] = weights[line + i * LINES][k];
#pragma unroll
      for (int c = 0; c < FOURS; ++c) {
        // The last lanes may have no elements, and read those of others.
        const int at = min(lane + c * LANES, WIDTH / 4 - 1);
        const float4 v0 = values[k * 4][at], v1 = values[k * 4 + 1][at], v2 = values[k * 4 + 2][at],
                     v3 = values[k * 4 + 3][at];
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
          result[i][c] = fma((float4)(w[i].x), v0, result[i][c]);
          result[i][c] = fma((float4)(w[i].y), v1, result[i][c]);
          result[i][c] = fma((float4)(w[i].z), v2, result[i][c]);
          result[i][c] = fma((float4)(w[i].w), v3, result[i][c]);
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int i = 0; i < EACH; ++i) parts[line + i * LINES][lane] = total[i];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const int row = line + i * LINES;
    if (row0 + row >= p.rows) continue;
    float sum = 0;
#pragma unroll
    for (int l = 0; l < LANES; ++l) sum += parts[row][l];
#pragma unroll
    for (int c = 0; c < FOURS; ++c) {
      const int at = lane + c * LANES;
      if (at < WIDTH / 4)
        *(__global float4 *)(out + (row0 + row) * p.out.row + at * 4) = result[i][c] / (float4)(sum);
    }
  }
}
