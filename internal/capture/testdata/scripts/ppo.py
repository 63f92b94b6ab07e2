"""PPO of stable-baselines3: rollouts on the CPU side, distributions checked on the device side."""
import gymnasium
from stable_baselines3 import PPO

model = PPO("MlpPolicy", gymnasium.make("CartPole-v1"), n_steps=128, batch_size=32, n_epochs=2, device="cuda", verbose=1)
model.learn(total_timesteps=512)
