"""Coefficients and constants: written by tools/minimax.py, constant coefficient first."""

# fmt: off
from __future__ import annotations

from symgrad.compiler.llvm.maths.vectors.lanes import Coefficients, PairCoefficients


def _read(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))


def _fitted(double: str, single: str) -> Coefficients:
    return Coefficients(_read(double), _read(single))

# (exp(r) - 1 - r)/r**2, |r| <= log(2)/2, for a result rounded three times: 2**-57.1
EXP_SHORT = _fitted(
    "0x1.000000000000cp-1 0x1.5555555555561p-3 0x1.555555554fe49p-5 0x1.111111110d4c6p-7 "
    "0x1.6c16c18614b3bp-10 0x1.a01a01bb605e8p-13 0x1.a0199562f6332p-16 0x1.71dddeb188286p-19 "
    "0x1.28b169fc2d9ecp-22 0x1.af8746f06bce6p-26 ",
    "0x1.000000440a0b1p-1 0x1.55555598ff879p-3 0x1.55547dfa146b7p-5 0x1.11107b80fb8fep-7 "
    "0x1.6d98a3a1101c8p-10 0x1.a1b9f0e05813bp-13 ",
)
# (exp(r) - 1 - r)/r**2, |r| <= log(2)/2: 2**-61.2
EXP = _fitted(
    "0x1.0000000000000p-1 0x1.5555555555559p-3 0x1.555555555555ap-5 0x1.111111110f618p-7 "
    "0x1.6c16c16c14396p-10 0x1.a01a01b028ce2p-13 0x1.a01a01b0ed77fp-16 0x1.71ddf7978ac9ap-19 "
    "0x1.27e4c5324d526p-22 0x1.af60230393915p-26 0x1.1f960645df986p-29 ",
    "0x1.0000002888b4cp-1 0x1.55555589ab102p-3 0x1.5554abf8bf463p-5 0x1.11108e9777df7p-7 "
    "0x1.6d7674dd1ad02p-10 0x1.a1a2d514704b1p-13 ",
)
# (cosh(r) - 1)/r**2 in r**2: 2**-65.7
COSH = _fitted(
    "0x1.0000000000000p-1 0x1.555555555555cp-5 0x1.6c16c16c13e20p-10 0x1.a01a01b1cadb9p-16 "
    "0x1.27e4c46434bc7p-22 0x1.1f96371400af2p-29 ",
    "0x1.000000451b749p-1 0x1.55547c6ef4313p-5 0x1.6d99b005011b4p-10 ",
)
# (sinh(r) - r)/r**3 in r**2: 2**-59.6
SINH = _fitted(
    "0x1.5555555555555p-3 0x1.1111111111113p-7 0x1.a01a01a018798p-13 0x1.71de3a5edb5fap-19 "
    "0x1.ae641bc297f69p-26 0x1.61d841e11d21ep-33 ",
    "0x1.555555740801ep-3 0x1.1110b0b61ab67p-7 0x1.a171d4101cdcep-13 ",
)
# R(s)/s**2 in s**2, log((1 + s)/(1 - s)) = 2*s + s*R, |s| <= 0.1716: 2**-58.8
LOG = _fitted(
    "0x1.5555555555592p-1 0x1.999999997fd0bp-2 0x1.24924941fb785p-2 0x1.c71c52005a0cep-3 "
    "0x1.746640e14bdb9p-3 0x1.39a184be9de08p-3 0x1.2f07a193b89a3p-3 ",
    "0x1.55557a2becf62p-1 0x1.995eb2f528557p-2 0x1.31e3c4a89cf21p-2 ",
)
# the same, |s| <= 0.2: 2**-61.4
LOG_WIDE = _fitted(
    "0x1.555555555554fp-1 0x1.999999999c0f4p-2 0x1.24924921ec3c2p-2 0x1.c71c7488b1e89p-3 "
    "0x1.745c4c838d8b8p-3 0x1.3b358aa301cfcp-3 0x1.0dcf246af0412p-3 0x1.1b69810f17862p-3 ",
    "0x1.55555422b842cp-1 0x1.999bdb1c98d36p-2 0x1.23e9c12ef9dd8p-2 0x1.ed88e00f25086p-3 ",
)
# (exp(r) - 1 - r - r**2/2)/r**3, 3/4 <= exp(r) <= 3/2: 2**-60.4
EXP_CUBIC = _fitted(
    "0x1.5555555555554p-3 0x1.55555555555ccp-5 0x1.1111111111b47p-7 0x1.6c16c16bc6239p-10 "
    "0x1.a01a019b7073cp-13 0x1.a01a03f655cccp-16 0x1.71de3f1bbb714p-19 0x1.27ddb4ad99095p-22 "
    "0x1.aeb7564788322p-26 0x1.2f57744075dbcp-29 ",
    "0x1.555559b8fd3d6p-3 0x1.55552504fc182p-5 0x1.11063ed4830fep-7 0x1.6cdfc7c12255fp-10 "
    "0x1.b74bbda558f5ep-13 ",
)
# (sin(r) - r)/r**3 in r**2, |r| <= pi/4: 2**-56.9
SIN = _fitted(
    "-0x1.5555555555549p-3 0x1.111111110f852p-7 -0x1.a01a019c0c476p-13 0x1.71de3572e64c2p-19 "
    "-0x1.ae5e6250ad23cp-26 0x1.5d91d482d9a17p-33 ",
    "-0x1.5555554cadc5ep-3 0x1.1111088d601fcp-7 -0x1.a00f966250772p-13 0x1.6cd697fc6b917p-19 ",
)
# (cos(r) - 1 + r**2/2)/r**4 in r**2: 2**-59.6
COS = _fitted(
    "0x1.555555555554cp-5 -0x1.6c16c16c15152p-10 0x1.a01a019cad415p-16 -0x1.27e4f8068bb2cp-22 "
    "0x1.1ee9e981cfe55p-29 -0x1.8fad51d91398bp-37 ",
    "0x1.55554aa86df5ap-5 -0x1.6c0c844318bbfp-10 0x1.9a001eeb5b9a1p-16 ",
)
# (sin(r) - r)/r**3 in r**2, |r| <= pi/16: 2**-57.6
SIN_SHORT = _fitted(
    "-0x1.55555555554cap-3 0x1.1111111087f88p-7 -0x1.a019f7244bb98p-13 0x1.718d5727858b5p-19 ",
    "-0x1.55554449ca4bfp-3 0x1.10b7c0d015313p-7 ",
)
# (cos(r) - 1)/r**2 in r**2, |r| <= pi/16: 2**-61.4
COS_SHORT = _fitted(
    "-0x1.0000000000000p-1 0x1.555555555546dp-5 -0x1.6c16c16b3dcdcp-10 0x1.a019f6973a022p-16 "
    "-0x1.27a3c1b87f18ep-22 ",
    "-0x1.fffffffb84b17p-2 0x1.55553f4b867c8p-5 -0x1.6b9b8453b810bp-10 ",
)
# (2*tan(r/2) - r)/r**3 in r**2: 2**-58.1
TAN = _fitted(
    "0x1.5555555555575p-4 0x1.111111110d105p-7 0x1.ba1ba1bfa975dp-11 0x1.664f469fb67eep-14 "
    "0x1.226e9204f3e26p-17 0x1.d6be6bc1480d1p-21 0x1.7f26b059ad363p-24 0x1.250975f89a495p-27 "
    "0x1.5902025a94bd3p-30 ",
    "0x1.555555fa9695bp-4 0x1.11109be9af75dp-7 0x1.ba51687cc8f9fp-11 0x1.60f659b566868p-14 "
    "0x1.5f0aac7254b91p-17 ",
)
# (atan(t) - t)/t**3 in t**2, |t| <= 1/2: 2**-57.6
ATAN = _fitted(
    "-0x1.5555555555552p-2 0x1.9999999999056p-3 -0x1.24924924513e6p-3 0x1.c71c71aa526d3p-4 "
    "-0x1.745d138197592p-4 0x1.3b135fe7cc7ddp-4 -0x1.110c69507e691p-4 0x1.e1826b4542c22p-5 "
    "-0x1.ac70a7fb4cbdbp-5 0x1.77f57d8747828p-5 -0x1.300ef95ca0fe5p-5 0x1.83851f3308da5p-6 "
    "-0x1.1214ba942c0c4p-7 ",
    "-0x1.55555122a91dep-2 0x1.9996f85dc16cap-3 -0x1.244b9c915c995p-3 0x1.c031785ebc9bcp-4 "
    "-0x1.47359fb23c6e4p-4 0x1.3db58393a0a58p-5 ",
)
# (asin(t) - t)/t**3 in t**2, |t| <= 1/2: 2**-59.3
ASIN = _fitted(
    "0x1.5555555555578p-3 0x1.333333332df0dp-4 0x1.6db6db722ba48p-5 0x1.f1c71a8b8d3edp-6 "
    "0x1.6e8bdfe7b19f6p-6 0x1.1c49ddf4ff55dp-6 0x1.ca2144ffabe61p-7 0x1.75778a1eb6fc9p-7 "
    "0x1.618ac041221dcp-7 0x1.e15b6a06a5441p-9 0x1.6501d8c1e623cp-6 -0x1.59f62bb3b3776p-6 "
    "0x1.0be443bd99f50p-5 ",
    "0x1.55554c30ab657p-3 0x1.333891bc5159ep-4 0x1.6cabbd1a3b8aap-5 0x1.04aac0caadb7cp-5 "
    "0x1.d7abc26699b33p-7 0x1.33d5bdee97605p-5 ",
)
# (2*atanh(s)/s - 2 - 2/3*s**2)/s**4 in s**2, |s| <= 0.1716: 2**-66.2
LOG_FIFTH = _fitted(
    "0x1.9999999999996p-2 0x1.2492492493044p-2 0x1.c71c71c57ea19p-3 0x1.745d18332e280p-3 "
    "0x1.3b13627b51d03p-3 0x1.1120be7b93114p-3 0x1.de32087bab74ap-4 0x1.eb1cdecad0a50p-4 ",
    "0x1.9999ffee76f9ap-2 0x1.2452824a8285dp-2 0x1.dfa148092d32ap-3 ",
)
# m**(-1/3), sqrt(1/2) <= m <= sqrt(2): 2**-14.7
CBRT = _fitted(
    "0x1.e07d9002eced6p+0 -0x1.df131a7861ed6p+0 0x1.93468aa42069ep+0 -0x1.6c30d017b6beap-1 "
    "0x1.0b30a40b8ea3dp-3 ",
    "0x1.e07d9002eced6p+0 -0x1.df131a7861ed6p+0 0x1.93468aa42069ep+0 -0x1.6c30d017b6beap-1 "
    "0x1.0b30a40b8ea3dp-3 ",
)
# erf(x)/x - 1 in x**2, |x| <= 1: 2**-56.2
ERF = _fitted(
    "0x1.06eba8214db69p-3 -0x1.812746b0379e7p-2 0x1.ce2f21a042be2p-4 -0x1.b82ce31288b47p-6 "
    "0x1.565bcd0e6a2f8p-8 -0x1.c02db40036187p-11 0x1.f9a326f7b298ep-14 -0x1.f4d25bfa5e7ffp-17 "
    "0x1.b9e6c39bcb0eap-20 -0x1.5f73c47868d18p-23 0x1.fcbb3f2fe1e7ep-27 -0x1.517d3d5ff51bdp-30 "
    "0x1.9a12f59595fcap-34 -0x1.b41eae759b9a7p-38 0x1.3c27048d916acp-42 ",
    "0x1.06eba820311cfp-3 -0x1.812746682c7fbp-2 0x1.ce2f09ac431d7p-4 -0x1.b829d8d5129a1p-6 "
    "0x1.562b1a3f52383p-8 -0x1.bcd7e398a2077p-11 0x1.d8b8ad76f270cp-14 -0x1.44d010c4eb1ffp-17 ",
)
# (P(s) - P(0))/s, P = (1 + 2*t)*exp(t**2)*erfc(t) in s = (t - K)/(t + K), t >= 0.49: 2**-57.6
ERFC = _fitted(
    "-0x1.1f367683f89a7p-3 0x1.d5f2948159d7bp-9 0x1.510169d096807p-4 -0x1.bda9309a289aep-4 "
    "0x1.7a14188a99a43p-4 -0x1.e0d0fa6dfc156p-5 0x1.d0b0037dd1a41p-6 -0x1.3f603c34fc0bap-7 "
    "0x1.cc3a0e1e5d30fp-10 0x1.33fb261760fe9p-12 -0x1.303f9d262f1d6p-12 0x1.b143f10ca83fap-15 "
    "0x1.778a0bd2c205fp-16 -0x1.8002d77387964p-17 -0x1.052086f766857p-20 0x1.d636f9a33137bp-20 "
    "-0x1.f57d34ec530e7p-25 -0x1.14eb3a4d5482dp-22 0x1.a2ceeaaa1683bp-26 0x1.3f0d0d73bcc08p-25 "
    "-0x1.2c8416d1c8566p-28 -0x1.0aba8c01b2e34p-28 0x1.02ac11a421f2ep-31 ",
    "-0x1.1f36770f0f270p-3 0x1.d5f4a28373307p-9 0x1.51019fabb4bfap-4 -0x1.bdaac18bf1513p-4 "
    "0x1.7a1164a3116fap-4 -0x1.e0b7f700feb3fp-5 0x1.d0ea17dd14684p-6 -0x1.40c2d9143db49p-7 "
    "0x1.c2cf66b1ecf63p-10 0x1.7e65e9c334ab4p-12 -0x1.0124886e24886p-12 ",
)
# lgamma(2 + t)/t, -3/4 <= t <= 1/2: 2**-55.1
LGAMMA = _fitted(
    "0x1.b0ee6072093cep-2 0x1.4a34cc4a60fa6p-2 -0x1.13e001a557607p-4 0x1.51322ac7d848fp-6 "
    "-0x1.e404fc218f500p-8 0x1.7add6eadb5069p-9 -0x1.38ac5c2c07ba6p-10 0x1.0b36af8725dc3p-11 "
    "-0x1.d3fd4c67ac2f7p-13 0x1.a127b06c961d0p-14 -0x1.78de605b10544p-15 0x1.580de39724bc6p-16 "
    "-0x1.3cbbc148a0a43p-17 0x1.259602f66616fp-18 -0x1.11cbc0c3612fep-19 0x1.00699303821e2p-20 "
    "-0x1.dec10ce3e0d4dp-22 0x1.cb6db750ecaebp-23 -0x1.d701abcea8ef2p-24 0x1.404870e173d08p-25 "
    "-0x1.6f87fd5f7b448p-27 0x1.285b0176aa513p-25 -0x1.634eac7fde97cp-28 -0x1.32d9e8bd30ca1p-26 "
    "-0x1.c0eb1847debacp-27 ",
    "0x1.b0ee6070c34ccp-2 0x1.4a34cc4d0273cp-2 -0x1.13dffe0c585dbp-4 0x1.51322c09abed0p-6 "
    "-0x1.e40b8f5b3731ap-8 0x1.7ad3eb6ceb9f7p-9 -0x1.379dfb17dd383p-10 0x1.0d9af068a6efep-11 "
    "-0x1.f6e7ed435b94fp-13 0x1.3881dafdf7e12p-14 -0x1.8a105dd83c486p-16 0x1.15c93dfef571fp-14 ",
)
# (lgamma(x) - (x - 1/2)*log(x) + x - log(2*pi)/2)*x in 1/x**2, x >= 8: 2**-67.0
STIRLING = _fitted(
    "0x1.5555555555554p-4 -0x1.6c16c16c07515p-9 0x1.a01a01246672ep-11 -0x1.381308a0b273ep-11 "
    "0x1.b911aa71ac104p-11 -0x1.ed0a9a4b47b83p-10 0x1.4025b5a2914c8p-8 ",
    "0x1.55553c3bc4f59p-4 -0x1.69be5d946c0d8p-9 ",
)
# digamma(t + DIGAMMA_ROOT)/t - 1, 1 <= t + DIGAMMA_ROOT <= 2: 2**-54.7
DIGAMMA = _fitted(
    "-0x1.08d43711c7545p-5 -0x1.c563b54aa1a2bp-2 0x1.08b4294d5037cp-2 -0x1.4fc131725993cp-3 "
    "0x1.b9a5b6371170ap-4 -0x1.27baba24d4b7cp-4 0x1.8fce02b01bd8bp-5 -0x1.0fa7eca64c1b2p-5 "
    "0x1.723d68e70c206p-6 -0x1.f97026ee55172p-7 0x1.59559a03e2d79p-7 -0x1.d82ca943d1e11p-8 "
    "0x1.42e7e317eb217p-8 -0x1.b95e3c5609e93p-9 0x1.2da6b08ba0e08p-9 -0x1.a0d30028ca6a4p-10 "
    "0x1.20d5243772b49p-10 -0x1.6db61b4fc3ed1p-11 0x1.b884d2fe3cd5cp-12 -0x1.a46f2ae325fb8p-12 "
    "0x1.a5a5d9731c2e3p-12 -0x1.7248bf19a3a22p-13 ",
    "-0x1.08d4374cda82bp-5 -0x1.c563b60115ce7p-2 0x1.08b43206bf9f2p-2 -0x1.4fc0b1692b940p-3 "
    "0x1.b99ee1a8f7719p-4 -0x1.27d2d2f7ba8dcp-4 0x1.90cc1c98f4fc1p-5 -0x1.0df25433f6396p-5 "
    "0x1.61791d408cff4p-6 -0x1.0750609137b90p-6 0x1.d9744931c08aep-7 -0x1.f3beaacc4a68cp-8 ",
)
# (digamma(y + 1/2) - log(y))*y**2 in 1/y**2, y >= 2.5: 2**-58.0
DIGAMMA_FAR = _fitted(
    "0x1.5555555554c87p-5 -0x1.ddddddd5d7a36p-8 0x1.f7df734aea4b6p-9 -0x1.0eed15c8a08a6p-8 "
    "0x1.ef2014670d4d7p-8 -0x1.55e71decdbb26p-6 0x1.3ec70f3466662p-4 -0x1.5995cd15d0284p-2 "
    "0x1.6f4955ad61b47p+0 -0x1.48cc12baeec2bp+2 0x1.b2e0a2e526be0p+3 -0x1.6cda7b5b3a4aap+4 "
    "0x1.1e8cf0e89020ap+4 ",
    "0x1.5554eec6a6c90p-5 -0x1.dd2638f5cf9eap-8 0x1.dc421d00fd8efp-9 -0x1.31fd9b905b168p-9 ",
)
# log(2); multiples up to 2048 of the first part are exact
LN2 = _read("0x1.62e42fefa3800p-1 0x1.ef35793c76730p-45")
# log(2) as a sum
LN2_FULL = _read("0x1.62e42fefa39efp-1 0x1.abc9e3b39803fp-56")
# pi/2; multiples up to 2**20 of the second part are exact
HALF_PI = _read("0x1.921fb54442d18p+0 0x1.1a62633100000p-54 0x1.1701b839a2520p-88")
# pi/2; multiples up to 2**20 of all parts but the last are exact
HALF_PI_IN_FOUR = _read("0x1.921fb54400000p+0 0x1.0b4611a600000p-34 0x1.3198a2e000000p-69 0x1.b839a252049c1p-104")
# pi/8 in units of 2**-51; multiples up to 2**22 of the second part are exact
EIGHTH_PI = _read("0x1.921fb54442d18p+49 0x1.1a62633000000p-5 0x1.45c06e0e68948p-37")
# 8/pi in the same units
EIGHTHS = float.fromhex("0x1.45f306dc9c883p-50")
# points next to the unit circle in the directions k*pi/8, and 1 minus their radius, which repeats after four points
SINES = _read(
    "-0x0.0p+0 0x1.87de2a6aea966p-2 0x1.6a09e667f3bcdp-1 0x1.d906bcf328d4ap-1 "
    "0x1.0000000000000p+0 0x1.d906bcf328d4ap-1 0x1.6a09e667f3bcdp-1 0x1.87de2a6aea966p-2 "
    "-0x0.0p+0 -0x1.87de2a6aea966p-2 -0x1.6a09e667f3bcdp-1 -0x1.d906bcf328d4ap-1 "
    "-0x1.0000000000000p+0 -0x1.d906bcf328d4ap-1 -0x1.6a09e667f3bcdp-1 -0x1.87de2a6aea966p-2 "
)
COSINES = _read(
    "0x1.0000000000000p+0 0x1.d906bcf328d4ap-1 0x1.6a09e667f3bcdp-1 0x1.87de2a6aea966p-2 "
    "0x0.0p+0 -0x1.87de2a6aea966p-2 -0x1.6a09e667f3bcdp-1 -0x1.d906bcf328d4ap-1 "
    "-0x1.0000000000000p+0 -0x1.d906bcf328d4ap-1 -0x1.6a09e667f3bcdp-1 -0x1.87de2a6aea966p-2 "
    "0x0.0p+0 0x1.87de2a6aea966p-2 0x1.6a09e667f3bcdp-1 0x1.d906bcf328d4ap-1 "
)
LACKS = _read(
    "0x1.0000000000000p-200 -0x1.0a1211ea928e6p-51 -0x1.3b3efbf5e2228p-54 -0x1.0a1211ea928e6p-51 "
    "0x1.0000000000000p-200 -0x1.0a1211ea928e6p-51 -0x1.3b3efbf5e2228p-54 -0x1.0a1211ea928e6p-51 "
)
# pi/2 as a sum
HALF_PI_FULL = _read("0x1.921fb54442d18p+0 0x1.1a62633145c07p-54")
# pi/4; multiples up to 4 of the first part are exact
QUARTER_PI = _read("0x1.921fb54442d18p-1 0x1.1a62633145c07p-55")
# 1/log(2)
LOG2_E = _read("0x1.71547652b82fep+0 0x1.777d0ffda0d24p-56")
# 1/log(10)
LOG10_E = _read("0x1.bcb7b1526e50ep-2 0x1.95355baaafad3p-57")
# 2/3 as a sum
LOG_THIRD = _read("0x1.5555555555555p-1 0x1.5555555555555p-55")
# P(0) of ERFC as a sum
ERFC_MIDDLE = _read("0x1.3ccda0b5d5dc2p+0 0x1.e65b158f28ce5p-54")
# K of ERFC
ERFC_CENTRE = 3.75
# the root of digamma as a sum
DIGAMMA_ROOT = _read("0x1.762d86356be3fp+0 0x1.b86a722197829p-54")
# log(2); multiples up to 2048 of the first two parts are exact
LN2_LONG = _read("0x1.62e42fefa3800p-1 0x1.ef35793c76000p-45 0x1.cc01f97b57a08p-87")
# pi**2 as a sum
PI_SQUARED = _read("0x1.3bd3cc9be45dep+3 0x1.692b71366cc04p-51")
# atanh(s)/s in s**2, |s| <= 0.1716, to 104 bits
ATANH_DOUBLED = PairCoefficients(
    (
        _read("0x1.0000000000000p+0 0x0.0p+0"),
        _read("0x1.5555555555555p-2 0x1.5555555555555p-56"),
        _read("0x1.999999999999ap-3 -0x1.999999999999ap-57"),
        _read("0x1.2492492492492p-3 0x1.2492492492492p-57"),
        _read("0x1.c71c71c71c71cp-4 0x1.c71c71c71c71cp-58"),
        _read("0x1.745d1745d1746p-4 -0x1.745d1745d1746p-59"),
        _read("0x1.3b13b13b13b14p-4 -0x1.3b13b13b13b14p-58"),
        _read("0x1.1111111111111p-4 0x1.1111111111111p-60"),
        _read("0x1.e1e1e1e1e1e1ep-5 0x1.e1e1e1e1e1e1ep-61"),
        _read("0x1.af286bca1af28p-5 0x1.af286bca1af28p-59"),
        _read("0x1.8618618618618p-5 0x1.8618618618618p-59"),
    ),
    _read(
        "0x1.642c8590b2164p-5 0x1.47ae147ae147bp-5 0x1.2f684bda12f68p-5 0x1.1a7b9611a7b96p-5 "
        "0x1.0842108421084p-5 0x1.f07c1f07c1f08p-6 0x1.d41d41d41d41dp-6 0x1.bacf914c1bad0p-6 "
        "0x1.a41a41a41a41ap-6 0x1.8f9c18f9c18fap-6 0x1.7d05f417d05f4p-6 "
    ),
)
# sin(pi*t)/(pi*t) in t**2, |t| <= 1/4, to 104 bits
SINE_OF_TURNS = PairCoefficients(
    (
        _read("0x1.0000000000000p+0 0x0.0p+0"),
        _read("-0x1.a51a6625307d3p+0 -0x1.1873d8912200cp-55"),
        _read("0x1.9f9cb402bc46cp-1 0x1.487acd8cd312cp-55"),
        _read("-0x1.86a8e4720db67p-3 0x1.461b9cb783f4cp-58"),
        _read("0x1.ac6805cf350a6p-6 0x1.7494ad340e176p-61"),
        _read("-0x1.33816aa4607abp-9 -0x1.9073895b4c74dp-63"),
        _read("0x1.374719fab3915p-13 0x1.0e61a9828f8c2p-67"),
        _read("-0x1.d42498d1ce099p-18 0x1.1ababb65fecf3p-72"),
    ),
    _read(
        "0x1.0fc992ff39e13p-22 -0x1.f5f9d970ca6dfp-28 0x1.79788684225eap-33 -0x1.d7353939082fep-39 "
        "0x1.f0115b37351ebp-45 -0x1.be5bbb762c2f9p-51 "
    ),
)
# cos(pi*t) in t**2, |t| <= 1/4, to 104 bits
COSINE_OF_TURNS = PairCoefficients(
    (
        _read("0x1.0000000000000p+0 0x0.0p+0"),
        _read("-0x1.3bd3cc9be45dep+2 -0x1.692b71366cc04p-52"),
        _read("0x1.03c1f081b5ac4p+2 -0x1.32b33f87fc145p-52"),
        _read("-0x1.55d3c7e3cbffap+0 0x1.d582920937625p-59"),
        _read("0x1.e1f506891babbp-3 -0x1.7362f495c096dp-60"),
        _read("-0x1.a6d1f2a204a8cp-6 0x1.5961232276df6p-60"),
        _read("0x1.f9d38a3763cc3p-10 -0x1.c8a14c8bd6bc5p-64"),
        _read("-0x1.b6e24f44b128fp-14 -0x1.6de1e0a0c23b9p-69"),
        _read("0x1.20c62c2f2d7f5p-18 -0x1.5a3cd1a11c7a2p-72"),
    ),
    _read(
        "-0x1.2a0c591af8314p-23 0x1.ef6e308d6d1c4p-29 -0x1.52ae4120fde27p-34 0x1.838d8f4321800p-40 "
        "-0x1.789d662bb5482p-46 0x1.3aab85bac2365p-52 "
    ),
)
# (digamma(y + 1/2) - log(y))*y**2 in 1/y**2, y >= 16.5, to 104 bits beside log(y)
DIGAMMA_DOUBLED = PairCoefficients(
    (
        _read("0x1.5555555555555p-5 0x1.5555555555555p-59"),
        _read("-0x1.ddddddddddddep-8 0x1.1111111111111p-63"),
        _read("0x1.f7df7df7df7dfp-9 0x1.f7df7df7df7dfp-63"),
        _read("-0x1.0eeeeeeeeeeefp-8 0x1.1111111111111p-64"),
        _read("0x1.ef83e0f83e0f8p-8 0x1.f07c1f07c1f08p-63"),
        _read("-0x1.596a66a66a66ap-6 -0x1.9a99a99a99a9ap-60"),
    ),
    _read(
        "0x1.554aaaaaaaaabp-4 -0x1.c5e25a1a1a1a2p-2 0x1.86e7364601918p+1 -0x1.a74c702b35aebp+4 "
        "0x1.1975c34328cfcp+8 -0x1.c2f052df85a9ap+11 0x1.ac5729d47f155p+15 -0x1.dc0b1a217a7e2p+19 "
        "0x1.31fad7c263e94p+24 -0x1.c280563806cb2p+28 0x1.7892edfd390bep+33 -0x1.62b8b44625798p+38 "
        "0x1.76024c215172ap+43 -0x1.b6c0dfed25e83p+48 "
    ),
)
# log10(2); its multiples are as exact as those of LN2
LOG10_2 = _read("0x1.34413509f7800p-2 0x1.fef311f12b358p-46")
# log(2*pi)/2 - 1/2
STIRLING_CONSTANT = float.fromhex("0x1.acfe390c97d69p-2")
