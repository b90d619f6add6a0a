// Value and gradient of recurrences by hand: a loop forward that keeps the values, and a loop back.
#include <math.h>
#define D 1e-3
#define EACH for (int i = 0; i < 2; i++)

static inline void stages(const double *h, const double *p, double s[4][2], double k[4][2]) {
  const double at[4] = {0, D / 2, D / 2, D};
  for (int j = 0; j < 4; j++) {
    EACH s[j][i] = j ? h[i] + at[j] * k[j - 1][i] : h[i];
    k[j][0] = s[j][1];
    k[j][1] = p[0] * (1 - s[j][0] * s[j][0]) * s[j][1] - p[1] * s[j][0];
  }
}

// Runge and Kutta's method for van der Pol's oscillator; the parameters m and k; gradients of these and of y[0].
double oscillator(long T, const double *p, double y0, double *grad, double *restrict tape) {
  double s[4][2], k[4][2], h[2] = {y0, 0}, pb[2] = {0, 0};
  for (long t = 0; t < T; t++) {
    EACH tape[2 * t + i] = h[i];
    stages(h, p, s, k);
    EACH h[i] += D / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
  double a[2] = {2 * h[0], 2 * h[1]}, loss = h[0] * h[0] + h[1] * h[1];
  const double weight[4] = {D / 6, D / 3, D / 3, D / 6}, at[4] = {D / 2, D / 2, D, 0};
  for (long t = T - 1; t >= 0; t--) {
    double g[2] = {tape[2 * t], tape[2 * t + 1]}, sb[2] = {0, 0}, n[2] = {a[0], a[1]};
    stages(g, p, s, k);
    for (int j = 3; j >= 0; j--) {
      double y = s[j][0], v = s[j][1], q = 1 - y * y;
      double yb = weight[j] * a[0] + at[j] * sb[0], vb = weight[j] * a[1] + at[j] * sb[1];
      sb[0] = -vb * (2 * p[0] * y * v + p[1]);
      sb[1] = yb + vb * p[0] * q;
      pb[0] += vb * q * v;
      pb[1] -= vb * y;
      EACH n[i] += sb[i];
    }
    EACH a[i] = n[i];
  }
  grad[0] = pb[0];
  grad[1] = pb[1];
  return loss;
}

// The oscillator from several positions, one after the other.
double oscillators(long T, long N, const double *p, const double *y0, double *grad, double *restrict tape) {
  double loss = 0, one[2];
  grad[0] = grad[1] = 0;
  for (long n = 0; n < N; n++) {
    loss += oscillator(T, p, y0[n], one, tape);
    EACH grad[i] += one[i];
  }
  return loss;
}

// h[t] = tanh(w*h[t-1] + u*x[t-1] + b), with the squared distance of h[1:] from z.
double cell(long T, const double *p, const double *x, const double *z, double *grad, double *restrict tape) {
  double h = 0, loss = 0, w = p[0], u = p[1], b = p[2], wb = 0, ub = 0, bb = 0, d;
  for (long t = 0; t < T; t++) {
    tape[t] = h;
    h = tanh(w * h + u * x[t] + b);
    d = h - z[t];
    loss += d * d;
  }
  double a = 0, n = h;
  for (long t = T - 1; t >= 0; t--) {
    double g = (a + 2 * (n - z[t])) * (1 - n * n);
    n = tape[t];
    wb += g * n;
    ub += g * x[t];
    bb += g;
    a = g * w;
  }
  grad[0] = wb;
  grad[1] = ub;
  grad[2] = bb;
  return loss;
}

// s[t] = w + a*r[t-1]**2 + b*s[t-1], with half the sum of log(s[t]) + r[t-1]**2/s[t].
double variance(long T, const double *p, const double *r, double *grad, double *restrict tape) {
  double w = p[0], a = p[1], b = p[2], rest = 1 - a - b, s = w / rest, loss = 0, wb = 0, ab = 0, bb = 0;
  for (long t = 0; t < T; t++) {
    tape[t] = s;
    s = w + a * r[t] * r[t] + b * s;
    loss += (log(s) + r[t] * r[t] / s) / 2;
  }
  double bar = 0, now = s;
  for (long t = T - 1; t >= 0; t--) {
    double q = r[t] * r[t], g = bar + (1 - q / now) / now / 2;
    now = tape[t];
    wb += g;
    ab += g * q;
    bb += g * now;
    bar = g * b;
  }
  grad[0] = wb + bar / rest;
  grad[1] = ab + bar * w / (rest * rest);
  grad[2] = bb + bar * w / (rest * rest);
  return loss;
}

// A hidden Markov model of K states: f[t] = u/sum(u) with u = (f[t-1]@A)*B[t-1]; the sum of the logarithms of sum(u).
#define K 32
double forward(long T, const double *B, const double *A, const double *p0, double *Ab, double *pb,
               double *restrict tape) {
  double loss = 0, f[K], bar[K] = {0};
  for (int i = 0; i < K; i++) f[i] = p0[i];
  for (long t = 0; t < T; t++) {
    double u[K] = {0}, s = 0;
    for (int i = 0; i < K; i++) tape[t * (K + 1) + i] = f[i];
    for (int i = 0; i < K; i++)
      for (int j = 0; j < K; j++) u[j] += f[i] * A[i * K + j];
    for (int j = 0; j < K; j++) u[j] *= B[t * K + j];
    for (int j = 0; j < K; j++) s += u[j];
    for (int j = 0; j < K; j++) f[j] = u[j] / s;
    tape[t * (K + 1) + K] = s;
    loss += log(s);
  }
  for (int i = 0; i < K * K; i++) Ab[i] = 0;
  for (long t = T - 1; t >= 0; t--) {
    const double *g = tape + t * (K + 1);
    double s = g[K], c = 1 / s, next[K] = {0};
    for (int j = 0; j < K; j++) c -= bar[j] * f[j] / s;
    for (int j = 0; j < K; j++) bar[j] = (bar[j] / s + c) * B[t * K + j];
    for (int i = 0; i < K; i++) {
      f[i] = g[i];
      for (int j = 0; j < K; j++) {
        Ab[i * K + j] += f[i] * bar[j];
        next[i] += A[i * K + j] * bar[j];
      }
    }
    for (int i = 0; i < K; i++) bar[i] = next[i];
  }
  for (int i = 0; i < K; i++) pb[i] = bar[i];
  return loss;
}

// A Kalman filter of N states whose only observation is z = c@m.
#define N 6
#define ROWS for (int i = 0; i < N; i++)
#define ENTRIES ROWS for (int j = 0; j < N; j++)

// Z = X@Y, with the transpose of X or Y where tx or ty is 1.
static inline void product(int tx, int ty, const double *X, const double *Y, double *restrict Z) {
  ENTRIES Z[i * N + j] = 0;
  ROWS for (int k = 0; k < N; k++) for (int j = 0; j < N; j++)
    Z[i * N + j] += (tx ? X[k * N + i] : X[i * N + k]) * (ty ? Y[j * N + k] : Y[k * N + j]);
}

double filter(long T, const double *q, const double *z, const double *A, const double *P0, const double *c,
              double *qb, double *Ab, double *Pb, double *cb, double *restrict tape) {
  enum { P = N, M = N + N * N, G = N + 2 * N * N, S = G + N, V, SIZE };
  double m[N] = {0}, p[N], mb[N] = {0}, X[N * N], Y[N * N], loss = 0;
  ENTRIES tape[P + i * N + j] = P0[i * N + j];
  for (long t = 0; t < T; t++) {
    double *r = tape + t * SIZE, *next = r + SIZE, *g = r + G, s = 1, v = z[t];
    product(0, 0, A, r + P, X);
    product(0, 1, X, A, r + M);
    ROWS r[i] = m[i];
    ROWS r[M + i * N + i] += *q;
    ROWS p[i] = g[i] = 0;
    ENTRIES {
      p[i] += A[i * N + j] * m[j];
      g[i] += r[M + i * N + j] * c[j];
    }
    ROWS s += c[i] * g[i];
    ROWS v -= c[i] * p[i];
    ROWS m[i] = p[i] + g[i] * (v / s);
    ENTRIES next[P + i * N + j] = r[M + i * N + j] - g[i] * g[j] / s;
    r[S] = s;
    r[V] = v;
    loss -= (log(s) + v * v / s) / 2;
  }
  *qb = 0;
  ROWS cb[i] = 0;
  ENTRIES Ab[i * N + j] = Pb[i * N + j] = 0;
  for (long t = T - 1; t >= 0; t--) {
    const double *r = tape + t * SIZE, *g = r + G, s = r[S], v = r[V], w = v / s;
    double gb[N] = {0}, pb[N], mg = 0, gg = 0;
    ENTRIES gb[i] -= (Pb[i * N + j] + Pb[j * N + i]) * g[j];
    ROWS mg += mb[i] * g[i];
    ROWS gg -= gb[i] * g[i] / 2;
    double sb = (gg / s - mg * w - (1 - v * w) / 2) / s, vb = -(mg / s - w);
    ROWS gb[i] = gb[i] / s + mb[i] * w + sb * c[i];
    ROWS pb[i] = mb[i] + vb * c[i];
    ROWS p[i] = mb[i] = 0;
    ENTRIES p[i] += A[i * N + j] * r[j];
    ROWS cb[i] += vb * p[i] + sb * g[i];
    ENTRIES {
      Pb[i * N + j] += gb[i] * c[j];
      cb[j] += r[M + i * N + j] * gb[i];
      Ab[i * N + j] += pb[i] * r[j];
      mb[j] += A[i * N + j] * pb[i];
    }
    ROWS *qb += Pb[i * N + i];
    product(0, 1, A, r + P, X);
    product(0, 0, Pb, X, Y);
    ENTRIES Ab[i * N + j] += Y[i * N + j];
    product(0, 0, A, r + P, X);
    product(1, 0, Pb, X, Y);
    ENTRIES Ab[i * N + j] += Y[i * N + j];
    product(1, 0, A, Pb, X);
    product(0, 0, X, A, Pb);
  }
  return loss;
}
