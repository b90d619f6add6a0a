import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


@jax.jit
@jax.vmap
@jax.value_and_grad
def kernel(point):
    x, y = point
    return jnp.exp(-(x**2) / 2) * jnp.sin(3 * y) + jnp.log1p(x**2 + y**2) * jnp.tanh(x * y)


points = np.stack([np.linspace(-3, 3, 1_000), np.linspace(3, -2, 1_000)], axis=1)
f, slopes = kernel(points)
print(np.asarray(f).sum() + np.asarray(slopes).sum())
