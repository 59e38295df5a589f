// Random numbers by Philox 4x32-10 (Salmon et al., SC 2011): a block of four words of 32 bits from a
// counter and a key. A work-item makes the numbers of one block: four, or two of 64 bits. The
// prologue (ops/random.cc) defines operand O and how words become numbers: UNIFORM, NORMAL or
// TRUNCATED, or else INTEGERS. Blocks and numbers are TensorFlow's.

inline uint4 Round(uint4 c, uint2 key) {
  return (uint4)(mul_hi(0xcd9e8d57u, c.z) ^ c.y ^ key.x, 0xcd9e8d57u * c.z,
                 mul_hi(0xd2511f53u, c.x) ^ c.w ^ key.y, 0xd2511f53u * c.x);
}

// Block `number` behind the counter, whose halves are of 64 bits.
inline uint4 Block(ulong2 counter, uint2 key, ulong number) {
  const ulong low = counter.x + number, high = counter.y + (low < number ? 1 : 0);
  uint4 c = (uint4)((uint)low, (uint)(low >> 32), (uint)high, (uint)(high >> 32));
  for (int i = 0; i < 10; ++i) {
    c = Round(c, key);
    key += (uint2)(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}

#ifdef INTEGERS
// O_S is an unsigned type. low + word % range, or the words themselves for a range of 0.
__kernel void random_integers(TENSOR(O_S, out), const ulong count, const ulong2 counter,
                              const uint2 key, const ulong low, const ulong range) {
  OPEN(out);
  const ulong group = get_global_id(0);
  if (group * PER_BLOCK >= count) return;
  const uint4 w = Block(counter, key, group);
#if PER_BLOCK == 2
  const ulong words[2] = {w.x | (ulong)w.y << 32, w.z | (ulong)w.w << 32};
#else
  const uint words[4] = {w.x, w.y, w.z, w.w};
#endif
  for (uint k = 0; k < PER_BLOCK && group * PER_BLOCK + k < count; ++k)
    out[group * PER_BLOCK + k] = range == 0 ? words[k] : (O_S)low + words[k] % (O_S)range;
}
#else

// Numbers of [0, 1): as many bits of the words as the type's significand has.
inline float UniformOf(uint word) { return as_float(0x3f800000u | (word & 0x7fffffu)) - 1.0f; }
#if PER_BLOCK == 2
inline double WideUniformOf(uint high, uint low) {
  return as_double(1023ul << 52 | (ulong)(high & 0xfffffu) << 32 | low) - 1.0;
}
#endif

// Two normal numbers from two uniform ones, by the method of Box and Muller. The angle is computed
// in double where there is one, as in TensorFlow.
inline void BoxMuller(O_C u0, O_C u1, O_C *to) {
#ifdef cl_khr_fp64
  const O_C angle = (O_C)(2 * M_PI * u1);
#else
  const O_C angle = 2 * M_PI_F * u1;
#endif
  const O_C radius = sqrt(-2 * log(u0 < (O_C)1.0e-7 ? (O_C)1.0e-7 : u0));
  to[0] = sin(angle) * radius;
  to[1] = cos(angle) * radius;
}

inline void Normals(uint4 w, O_C *to) {
#if PER_BLOCK == 2
  BoxMuller(WideUniformOf(w.x, w.y), WideUniformOf(w.z, w.w), to);
#else
  BoxMuller(UniformOf(w.x), UniformOf(w.y), to);
  BoxMuller(UniformOf(w.z), UniformOf(w.w), to + 2);
#endif
}

inline void Uniforms(uint4 w, O_C *to) {
#if PER_BLOCK == 2
  to[0] = WideUniformOf(w.x, w.y);
  to[1] = WideUniformOf(w.z, w.w);
#elif defined(BITS)
  // BITS low bits of each word.
  const uint4 low = w & ((1u << BITS) - 1);
  const float scale = 1.0f / (1 << BITS);
  to[0] = low.x * scale;
  to[1] = low.y * scale;
  to[2] = low.z * scale;
  to[3] = low.w * scale;
#else
  to[0] = UniformOf(w.x);
  to[1] = UniformOf(w.y);
  to[2] = UniformOf(w.z);
  to[3] = UniformOf(w.w);
#endif
}

__kernel void random_floats(TENSOR(O_S, out), const ulong count, const ulong2 counter,
                            const uint2 key) {
  OPEN(out);
  const ulong group = get_global_id(0);
  if (group * PER_BLOCK >= count) return;
  O_C numbers[4];
#if defined(TRUNCATED)
  // Drawn until all are within two deviations; each group has 256 words for each of its numbers.
  ulong block = group * (64 * PER_BLOCK);
  for (uint have = 0; have < PER_BLOCK; ++block) {
    O_C drawn[4];
    Normals(Block(counter, key, block), drawn);
    for (uint k = 0; k < PER_BLOCK && have < PER_BLOCK; ++k)
      if (fabs(drawn[k]) < 2) numbers[have++] = drawn[k];
  }
#elif defined(NORMAL)
  Normals(Block(counter, key, group), numbers);
#else
  Uniforms(Block(counter, key, group), numbers);
#endif
  for (uint k = 0; k < PER_BLOCK && group * PER_BLOCK + k < count; ++k)
    O_PUT(out, group * PER_BLOCK + k, numbers[k]);
}
#endif
